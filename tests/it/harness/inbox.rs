//! A server of a test: a port of its own, a thread for each connection, and waiting for what must arrive.

use std::fmt;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::harness::app::soon;

/// How long nothing more may arrive.
const QUIET: Duration = Duration::from_millis(800);

/// How often to look whether something has arrived.
const PAUSE: Duration = Duration::from_millis(20);

/// What has arrived.
pub type Kept<T> = Mutex<Vec<T>>;

/// A server that keeps what it gets. It accepts no more connections once it is dropped.
pub struct Inbox<T> {
    /// Where it listens.
    pub address: SocketAddr,
    got: Arc<Kept<T>>,
    is_over: Arc<AtomicBool>,
}

impl<T: Clone + fmt::Debug + Send + 'static> Inbox<T> {
    /// Listens, and gives each connection to `talk`, which keeps what it gets.
    pub fn listen(talk: impl Fn(&TcpStream, &Kept<T>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, got) = (listener.local_addr().expect("an address"), Arc::<Kept<T>>::default());
        let (is_over, talk) = (Arc::<AtomicBool>::default(), Arc::new(talk));
        let (kept, ends) = (Arc::clone(&got), Arc::clone(&is_over));
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let (kept, talk) = (Arc::clone(&kept), Arc::clone(&talk));
                thread::spawn(move || talk(&connection, &kept));
            }
        });
        Self { address, got, is_over }
    }

    /// What it has got so far.
    pub fn got(&self) -> Vec<T> {
        self.got.lock().expect("whole").clone()
    }

    /// Forgets what it has got.
    pub fn clear(&self) {
        self.got.lock().expect("whole").clear();
    }

    /// Waits for this many messages, and for a moment more, in which no other may come.
    pub async fn exactly(&self, number: usize) -> Vec<T> {
        soon("the messages arrive", async {
            while self.got().len() < number {
                tokio::time::sleep(PAUSE).await;
            }
        })
        .await;
        tokio::time::sleep(QUIET).await;
        let got = self.got();
        assert_eq!(got.len(), number, "{got:#?}");
        got
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for a connection.
        let _ = TcpStream::connect(self.address);
    }
}
