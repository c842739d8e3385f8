//! A proxy before a PostgreSQL server, with faults.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A TCP port that leads to the server's socket.
pub struct Proxy {
    /// The port.
    pub port: u16,
    socket: PathBuf,
    accepting: Option<JoinHandle<()>>,
    connections: Arc<Mutex<Vec<JoinHandle<()>>>>,
    fault: watch::Sender<Fault>,
}

/// The fault of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// None.
    None,
    /// Passes nothing on, and closes no connection.
    Stall,
    /// Cuts a connection whose client has sent a commit, once the server has answered.
    CutCommits,
    /// Cuts a connection whose client sends a commit, before the commit arrives.
    LoseCommits,
    /// Cuts a connection whose client has sent a commit, once the server has answered, and stalls from then on.
    StallAfterCommit,
    /// Stalls when a client sends the text of the statement that stores an audit entry. It does so once on a connection:
    /// later, the statement is prepared.
    StallAtEntry,
    /// Replaces the server's answer to a commit by a PANIC, and cuts the connection.
    PanicAfterCommit,
}

impl Proxy {
    /// Opens one that leads to a socket.
    pub async fn to(socket: PathBuf) -> Self {
        let (fault, _) = watch::channel(Fault::None);
        let mut proxy = Self { port: 0, socket, accepting: None, connections: Arc::default(), fault };
        proxy.open().await;
        proxy
    }

    /// Accepts connections, on the port that it had before.
    pub async fn open(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.expect("a port");
        self.port = listener.local_addr().expect("an address").port();
        let (socket, connections, fault) = (self.socket.clone(), Arc::clone(&self.connections), self.fault.clone());
        self.accepting = Some(tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let pass_on = pass_on(client, socket.clone(), fault.clone());
                connections.lock().expect("whole").push(tokio::spawn(pass_on));
            }
        }));
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        self.connections.lock().expect("whole").drain(..).for_each(|connection| connection.abort());
    }

    /// Cuts all connections and refuses new ones.
    pub async fn close(&mut self) {
        if let Some(accepting) = self.accepting.take() {
            accepting.abort();
            let _ = accepting.await;
        }
        self.cut();
    }

    /// Sets the fault of the proxy.
    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }
}

/// Copies bytes in both directions, until one side closes or the fault cuts a commit.
async fn pass_on(mut client: TcpStream, socket: PathBuf, fault: watch::Sender<Fault>) {
    let Ok(mut server) = UnixStream::connect(socket).await else { return };
    let mut faults = fault.subscribe();
    let (mut sent, mut answered) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    loop {
        drop(faults.wait_for(|fault| *fault != Fault::Stall).await);
        tokio::select! {
            read = client.read(&mut sent) => {
                let Ok(length @ 1..) = read else { return };
                let has = |text: &[u8]| sent[..length].windows(text.len()).any(|part| part == text);
                if *fault.borrow() == Fault::StallAtEntry && has(b"INSERT INTO \"audit\"") {
                    fault.send_replace(Fault::Stall);
                    drop(faults.wait_for(|fault| *fault != Fault::Stall).await);
                }
                let now = if has(b"COMMIT") { *fault.borrow() } else { Fault::None };
                if now == Fault::LoseCommits || server.write_all(&sent[..length]).await.is_err() {
                    return;
                }
                if matches!(now, Fault::CutCommits | Fault::StallAfterCommit | Fault::PanicAfterCommit) {
                    // The server commits, and its answer is lost.
                    let before = until_committed(&mut server).await;
                    if now == Fault::StallAfterCommit {
                        fault.send_replace(Fault::Stall);
                    }
                    if now == Fault::PanicAfterCommit {
                        let _ = client.write_all(&[before, panic_of_server()].concat()).await;
                    }
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
            () = async { drop(faults.wait_for(|fault| *fault == Fault::Stall).await) } => {}
        }
    }
}

/// Reads until the server has answered a commit. Returns what it has answered before.
async fn until_committed(server: &mut UnixStream) -> Vec<u8> {
    let committed = b"C\0\0\0\x0bCOMMIT\0";
    let mut answered = Vec::new();
    loop {
        if let Some(place) = answered.windows(committed.len()).position(|text| text == committed) {
            answered.truncate(place);
            return answered;
        }
        if server.read_buf(&mut answered).await.unwrap_or_default() == 0 {
            return answered;
        }
    }
}

/// What a server sends that fails to flush its log, before it ends.
fn panic_of_server() -> Vec<u8> {
    let fields = b"SPANIC\0VPANIC\0C58030\0Mcould not fsync file\0\0";
    let length = u32::try_from(4 + fields.len()).expect("a short message");
    [&b"E"[..], &length.to_be_bytes(), fields].concat()
}
