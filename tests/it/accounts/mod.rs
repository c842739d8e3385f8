//! Who people are and what they may do. Always tested here: that only they get in who should, by each way of signing
//! in, that roles keep to their bounds, and that the audit tells who did what, and can take it back.

mod audit;
mod history;
mod openid;
mod openid_answers;
mod openid_slow;
mod owner_only;
mod refused_attempts;
mod revert;
mod role;
mod scim;
mod sign_in;
mod user;
