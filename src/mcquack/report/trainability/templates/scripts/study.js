// Puts the page of a study together: its figures and tables stand in it already.

followTheme();
followSections();
