//! The longest that tests wait for processes and connections: what would hang fails instead.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The longest time of one step of a test on a busy machine: a request, a command, the start or the end of a server.
pub const LONGEST: Duration = Duration::from_secs(180);

/// Kills a process that takes longer than [`LONGEST`], so that who waits for it, or reads what it says, fails instead of
/// hanging. It is dropped once the process has ended, or no longer has to.
pub struct Deadline {
    _over: mpsc::Sender<()>,
}

impl Deadline {
    pub fn of(child: &Child) -> Self {
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("an id");
        let (over, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            if ended.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                // It may have ended at this moment.
                let _ = kill_process(id, Signal::KILL);
            }
        });
        Self { _over: over }
    }
}

/// Runs a command to its end, and returns what it says.
pub fn output(command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let _deadline = Deadline::of(&child);
    child.wait_with_output().expect("it ends")
}

/// Waits for the end of a process.
pub fn end_of(child: &mut Child) -> ExitStatus {
    let _deadline = Deadline::of(child);
    child.wait().expect("the end")
}

/// Accepts a connection that must come. What must arrive on it comes soon, too.
pub fn accept(listener: &TcpListener) -> TcpStream {
    let until = Instant::now() + LONGEST;
    listener.set_nonblocking(true).expect("a socket");
    let connection = loop {
        match listener.accept() {
            Ok((connection, _)) => break connection,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                assert!(Instant::now() < until, "nobody connects within {LONGEST:?}");
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => panic!("no connection: {error}"),
        }
    };
    // On some systems a connection takes this over from its listener.
    connection.set_nonblocking(false).expect("a socket");
    connection.set_read_timeout(Some(LONGEST)).expect("a socket");
    connection
}
