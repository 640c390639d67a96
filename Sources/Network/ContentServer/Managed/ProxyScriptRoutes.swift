internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer

/// `/pac/<kind>`: scripts that say which proxy to take, right and wrong.
enum ProxyScriptRoutes {
    private enum Kind: String, CaseIterable {
        /// `?proxy=HOST:PORT` for all.
        case good
        case direct
        /// A proxy where nobody listens, then the one of the query, then none.
        case list
        case dead
        /// Does not parse.
        case syntax
        /// Never returns.
        case loop
        /// Throws.
        case exception
        /// Returns what is no proxy.
        case nonsense
        /// Returns nothing.
        case nothing
        /// Defines another function.
        case unnamed
        /// Asks DNS for each host, so that names leave the device though a proxy is used.
        case lookup
        /// Right, behind a megabyte of comment.
        case huge
        /// Right, after ten seconds.
        case slow
        /// Right, as a web page.
        case page
        /// Right, with the second media type that is in use.
        case other

        static let names = allCases.map(\.rawValue).joined(separator: ", ")
    }

    static let routes: [Route] = [
        .get("/pac/:kind") { request in
            guard let kind = Kind(rawValue: request.match["kind"].text) else {
                return .words(404, "a script is /pac/ and one of \(Kind.names)")
            }
            let proxy = request.path.queryValue("proxy").map(\.text) ?? "127.0.0.1:8080"
            guard let place = HostPort(proxy) else {
                return .words(400, "proxy is HOST:PORT")
            }
            return answer(kind, "PROXY \(place)")
        }
    ]

    private static func answer(_ kind: Kind, _ proxy: String) -> ServerResponse {
        var response = ServerResponse(
            200, type: kind == .page ? FileType.html : mediaType(kind), script(kind, proxy))
        response.fields.append(ResponseField("Cache-Control", "no-store"))
        if kind == .slow {
            var delivery = Delivery()
            delivery.headDelay = slowness
            response.delivery = delivery
        }
        return response
    }

    private static func mediaType(_ kind: Kind) -> String {
        kind == .other ? "application/x-javascript-config" : ProxyScript.mediaType
    }

    private static func script(_ kind: Kind, _ proxy: String) -> String {
        let good = ProxyScript.text(answering: proxy)
        return switch kind {
        case .good, .slow, .page, .other: good
        case .direct: ProxyScript.text(answering: "DIRECT")
        case .list: ProxyScript.text(answering: "PROXY 127.0.0.1:1; \(proxy); DIRECT")
        case .dead: ProxyScript.text(answering: "PROXY 127.0.0.1:1")
        case .syntax: ProxyScript.text("return {{")
        case .loop: ProxyScript.text("while (true) {}")
        case .exception: ProxyScript.text("throw new Error(\"no proxy\");")
        case .nonsense: ProxyScript.text(answering: "TELEPORT \(proxy)")
        case .nothing: ProxyScript.text("")
        case .unnamed: "function find(url, host) { return \"\(proxy)\"; }\n"
        case .lookup: ProxyScript.text("dnsResolve(host); return \"\(proxy)\";")
        case .huge: "/*" + String(repeating: "proxy ", count: 180_000) + "*/\n" + good
        }
    }

    /// In milliseconds.
    private static let slowness: UInt64 = 10_000
}
