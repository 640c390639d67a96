/// A script that says which proxy a client takes (PAC).
package enum ProxyScript {
    package static let mediaType = "application/x-ns-proxy-autoconfig"

    /// One that does `body` with a `url` and its `host`.
    package static func text(_ body: String) -> String {
        "function FindProxyForURL(url, host) { \(body) }\n"
    }

    /// One that answers the same for every URL: `PROXY a:1; DIRECT`.
    package static func text(answering list: String) -> String { text("return \"\(list)\";") }
}
