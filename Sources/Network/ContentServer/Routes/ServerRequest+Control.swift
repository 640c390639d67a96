internal import Base
internal import HTTPModel
internal import HTTPServer

extension ServerRequest {
    /// Whether a program on this machine asks.
    ///
    /// Other machines may not look into the server or change what it does, and neither may a page in
    /// a browser: one of another site, one that has this server's address under a name of its own,
    /// or one of what this server reflects (Fetch Metadata: `none` is who types the address).
    var isLocal: Bool {
        LoopbackHost.isAddress(connection.host) && LoopbackHost.contains(host ?? "")
            && fields.first(named: "origin") == nil
            && fields.first(named: "sec-fetch-site")?.elementsEqual("none".utf8) ?? true
    }

    /// What the request says the time is, by `X-Sallyport-Now: <seconds since 1970>`; `nil` if it
    /// does not.
    var givenSeconds: Int64? {
        // Years beyond any that a date can tell would overflow the sums.
        fields.first(named: "x-sallyport-now").flatMap { decimal($0) }.map {
            Int64(min($0, 1 << 40))
        }
    }

    /// The time of the request in seconds since 1970, so that a test need not wait for it.
    var seconds: Int64 { givenSeconds ?? date.seconds }

    /// The same in milliseconds.
    var milliseconds: Int64 {
        givenSeconds.map { $0 * 1000 } ?? receivedAt.microseconds / 1000
    }
}

extension ResponseField {
    /// Of what a stranger may have made a page: it gets nothing of this server's own.
    static let sandbox = ResponseField("Content-Security-Policy", "sandbox")
}
