// Puts the page together.

followTheme();
if (report.metrics.length > 0) {
  followViews();
  followDatasets();
  followScores();
  followAddress();
}
followTasks();
followSections();
