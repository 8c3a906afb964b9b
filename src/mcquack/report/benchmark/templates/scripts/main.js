// Puts the page together.

function followChoices() {
  const metric = byId("metric");
  metric.addEventListener("change", () =>
    choose({ metric: metric.value, family: hasFamily(metric.value) ? chosen.family : "" }),
  );
  const family = byId("family");
  if (family) family.addEventListener("change", () => choose({ family: family.value }));
  whenChosen(() => {
    metric.value = chosen.metric;
    document.querySelectorAll("[data-says=metric]").forEach((place) => (place.textContent = metricPhrase()));
    if (!family) return;
    family.value = chosen.family;
    // Published scores may lack a metric on all datasets of a family.
    [...family.options].forEach((option) => (option.disabled = !(option.value in report.views[chosen.metric])));
  });
}

function hasFamily(metric) {
  return chosen.family in report.views[metric];
}

followTheme();
if (report.metrics.length > 0) {
  followChoices();
  drawLeaderboard();
  drawRankingBars();
  drawCriticalDifference();
  drawWins();
  drawSizes();
  drawDatasets();
}
followTasks();
followSections();
