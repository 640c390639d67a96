internal import Base
internal import HTTPModel
internal import HTTPServer

/// The list of TLS hosts, and what is known of a client's certificate.
package enum HostRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            Route([.get], "/hosts") { _, _ in
                let hosts = await configuration.hosts?() ?? []
                return json(
                    200,
                    [
                        "schema": "sallyport.hosts/1",
                        "hosts": .each(hosts) { host in
                            [
                                "name": .string(host.name), "title": .string(host.title),
                                "expectation": .string(host.expectation),
                            ]
                        },
                    ])
            },
            .get("/client-certificate") { request in
                let security = request.connection.security
                return json(
                    200,
                    [
                        "shown": .boolean(security?.clientChain.isEmpty == false),
                        "verified": .boolean(security?.isClientVerified == true),
                    ])
            },
        ]
    }

    /// The first label of names that ask for a client's certificate, and serve who shows none.
    package static let askingLabel = "client-certificate"
    /// The first label of names that serve nobody else.
    package static let demandingLabel = "client-certificate-required"

    /// Why a request is not served by its host, which TLS or the request may name; `nil` if it is.
    static func refusal(of connection: ClientConnection, to host: String?) -> ServerResponse? {
        let security = connection.security
        guard security?.isClientVerified != true,
            [security?.serverName, host].contains(where: {
                $0?.hasPrefix(demandingLabel + ".") == true
            })
        else { return nil }
        return json(
            403,
            [
                "error": .string(
                    security?.clientChain.isEmpty != false
                        ? "no client certificate was shown" : "the client certificate is not ours"),
                "hint": .string(
                    "GET /.sallyport/client.pem, from this machine, issues one with its key;"
                        + " a proxy on the way shows it with --client-cert HOST=FILE"),
            ])
    }
}
