/// Header fields that carry neither keys nor anything of a user's, so that their values need no look.
enum StandardFields {
    /// - Parameter name: in lower case.
    static func contains(_ name: String) -> Bool { names.contains(name) }

    static func areCredentials(_ name: String) -> Bool {
        name == "authorization" || name == "proxy-authorization" || name == "cookie"
    }

    private static let names: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age",
        "allow", "alt-svc", "cache-control", "connection", "content-encoding", "content-length",
        "content-range", "content-type", "date", "dnt", "etag", "expect", "expires", "host",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "keep-alive", "last-modified", "max-forwards", "origin", "pragma", "priority", "range",
        "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode",
        "sec-fetch-site", "sec-fetch-user", "sec-gpc", "sec-websocket-accept",
        "sec-websocket-extensions", "sec-websocket-key", "sec-websocket-version", "server", "te",
        "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade",
        "upgrade-insecure-requests", "user-agent", "vary", "via", "x-requested-with",
    ]
}
