//! `lao serve`: a form and an endpoint for predictions.

use crate::inspect::load;
use crate::interrupt;
use anyhow::Context as _;
use clap::Args;
use lao_pages::{Guard, ModelPages, Server};
use lao_terminal as say;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// Serve a model: a form for people, and an endpoint for programs.
///
/// `POST /predict` takes rows as JSON and answers what `lao predict --json` prints; `/openapi.json` describes
/// it. On this machine the pages need no token. At another address (--listen) a token is needed, which is
/// printed; programs send it as `Authorization: Bearer TOKEN`. The server does not encrypt: put it behind a
/// proxy that does.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao serve patients.lao.json --port 8766
  curl -H 'Content-Type: application/json' -d '{\"rows\": [{\"bmi\": 30, \"ltg\": 4.9}]}' \\
    http://127.0.0.1:8766/predict")]
pub struct ServeArgs {
    /// Read the model from this file.
    model: PathBuf,
    #[command(flatten)]
    at: Address,
}

/// Where a server listens.
#[derive(Debug, Args)]
pub struct Address {
    /// Listen at this port; 0 is any that is free.
    #[arg(long, default_value_t = 8765)]
    port: u16,
    /// Listen at this address in place of 127.0.0.1, so that other machines reach the server. It does not
    /// encrypt: put it behind a proxy that does.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// Answer to this name, too, such as that of a proxy; can be given more than once.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Open the first page in the browser.
    #[arg(long)]
    open: bool,
}

impl Address {
    /// Begins to listen, and says where. A token is needed where `always`, or if others can reach the server.
    pub fn listen(&self, what: &str, always: bool) -> anyhow::Result<(Server, Guard)> {
        let (port, listen) = (self.port, self.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let server = Server::listen(SocketAddr::new(listen, port)).with_context(|| {
            format!(
                "cannot listen at {listen}, port {port}; choose another by --port, or any that is free by 0"
            )
        })?;
        let guard = Guard::new(server.address(), &self.hosts, always || !listen.is_loopback())?;
        let url = format!("http://{}/{}", server.address(), guard.key());
        say::results(&format!("{what}: {url}\n"))?;
        if !listen.is_loopback() {
            say::note("other machines can reach this server, and it does not encrypt what it sends");
        }
        say::note("Ctrl-C ends the server");
        if self.open {
            open::that_detached(&url)
                .with_context(|| format!("cannot open a browser; open {url} yourself"))?;
        }
        Ok((server, guard))
    }
}

pub fn run(args: &ServeArgs) -> anyhow::Result<u8> {
    let model = load(&args.model)?;
    let (server, guard) = args.at.listen(&format!("predictions of {}", lao::shown(&model.target)), false)?;
    ModelPages::new(model, guard).serve(server, &interrupt::learning())?;
    Ok(0)
}
