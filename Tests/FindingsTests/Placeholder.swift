// Findings
