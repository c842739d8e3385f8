//! The known weaknesses (CWE) that a code issue is about.

super::code_issue::references!("code_issue_cwe", "cwes");
