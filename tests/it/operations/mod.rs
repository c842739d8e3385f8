//! The server as operators run it. Always tested here: what applies to every connection and request before the API has
//! its say: addresses, proxies, TLS, limits of rate, time and memory, and what a process says of itself.

mod behind_proxy;
mod cors;
mod edge;
mod http;
mod limits;
mod metrics;
mod proxy_protocol;
mod share_of_memory;
mod shared_limits;
mod systemd;
mod time_limit;
mod tls;
mod tracing;
mod unix_socket;
