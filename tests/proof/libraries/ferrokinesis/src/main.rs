//! ferrokinesis on a free port of 127.0.0.1: its own program binds all addresses.
//!
//! Prints "LISTENING" and the port. Settings are the variables read below, all required. Ends with
//! its standard input, so that even a killed test run leaves no server behind.

use std::env;
use std::io::Read;
use std::process::exit;
use std::str::FromStr;
use std::thread;

use ferrokinesis::create_app;
use ferrokinesis::store::StoreOptions;
use tokio::net::TcpListener;

/// The value of a setting; the program ends where it is not there or cannot be read.
fn setting<T: FromStr>(name: &str) -> T {
    let text = env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    text.parse()
        .unwrap_or_else(|_| panic!("{name}={text} cannot be read"))
}

fn options() -> StoreOptions {
    StoreOptions {
        create_stream_ms: setting("CREATE_MS"),
        delete_stream_ms: setting("DELETE_MS"),
        update_stream_ms: setting("RESHARD_MS"),
        iterator_ttl_seconds: setting("ITERATOR_SECONDS"),
        shard_limit: setting("SHARD_LIMIT"),
        aws_account_id: setting("AWS_ACCOUNT_ID"),
        aws_region: setting("AWS_REGION"),
        ..StoreOptions::default()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        exit(0);
    });
    let (app, _store) = create_app(options());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!(
        "LISTENING {}",
        listener.local_addr().expect("its address").port()
    );
    axum::serve(listener, app).await.expect("a server");
}
