internal import Audit
package import Base
internal import ContentServer
internal import HTTPServer
internal import Launching
internal import Origins
package import Sockets
package import TLS

/// The options of the content server.
package struct ContentOptions: Sendable {
    package var listen = HostPort(host: "127.0.0.1", port: 8081)
    package var tlsListen = HostPort(host: "127.0.0.1", port: 8444)
    package var folder: String?
    /// The folder that keeps uploads; `nil` for one that goes with the process.
    package var uploads: String?
    /// Of all uploads together, in bytes.
    package var uploadByteLimit: Int64 = 1 << 30
    /// What its TLS hosts are below.
    package var zone = "sallyport.test"
    /// What sessions and faults are made from.
    package var seed: Int64 = 1
    /// The file of what goes wrong for whom; `nil` for nothing.
    package var scenario: String?
    /// The file that gets a line for each request; `nil` for none.
    package var journal: String?

    package init() {}
}

/// The content server with its ports and the test CA that its certificates are signed by.
package final class ContentService: Sendable {
    package let authority: CertificateAuthority
    package let http: SocketAddress
    package let https: SocketAddress
    /// Where a proxy finds its hosts.
    let zone: HostedZone?
    private let server: HTTPServer
    /// Keeps the uploads that go with the process.
    private let uploads: CommandFolder?

    /// Opens the test CA and binds.
    ///
    /// Errors: `bad-address`, `listen-failed`, `folder-unreadable`, `scenario-invalid`, those of
    /// its files, of the uploads' folder, and of the CA.
    package init(
        _ options: ContentOptions, variables: [String: String], loops: [EventLoop],
        isBesideProxy: Bool = false
    ) throws(Failure) {
        var configuration = ContentServerConfiguration()
        configuration.seed = UInt64(bitPattern: options.seed)
        if let folder = options.folder { configuration.folder = try Folder(path: folder) }
        if let path = options.scenario {
            configuration.scenario = try Scenario.read(try Files.read(path), path: path)
        }
        var limits = UploadStore.Limits()
        limits.byteCount = UInt64(max(0, options.uploadByteLimit))
        uploads =
            options.uploads == nil ? try CommandFolder(in: variables["TMPDIR"] ?? "/tmp") : nil
        let folder = options.uploads ?? uploads.map { $0.path + "/uploads" } ?? "uploads"
        configuration.uploads = try UploadStore(path: folder, limits: limits)
        let journal = try options.journal.map { path throws(Failure) in try Journal(path: path) }
        // A CA of its own: trusting the proxy's must not mean trusting a server's, nor the other
        // way round.
        let state = try StateFolder.path(variables) + "/content"
        authority = try CertificateAuthority.open(
            folder: state + "/ca", label: "Sallyport content test CA", pathLength: nil,
            age: AuditAuthority.age)
        configuration.authority = authority
        let hosts = try ContentHosts(authority, keysIn: state + "/keys", zone: options.zone)
        configuration.hosts = { await hosts.list() }
        configuration.issueClientCertificate = { hosts.issueClientCertificate() }
        let content = ContentServer(configuration, journal: journal ?? Journal())
        let security = HTTPServer.Port.Security.tls(authority, hosts: hosts)
        var ports = [
            HTTPServer.Port(try options.listen.socketAddress()),
            HTTPServer.Port(try options.tlsListen.socketAddress(), security),
        ]
        if isBesideProxy {
            // What comes by the proxy may be anybody's, who must not reach what this machine alone may.
            let inside = try HostPort(host: "127.0.0.1", port: 0).socketAddress()
            ports += [
                HTTPServer.Port(inside, isRelayed: true),
                HTTPServer.Port(inside, security, isRelayed: true),
            ]
        }
        server = try HTTPServer(
            ports: ports, loops: loops, onRefusal: content.note, answer: content.answer)
        let addresses = server.addresses
        (http, https) = (addresses[0], addresses[1])
        zone =
            isBesideProxy
            ? HostPattern("*.\(options.zone)").map {
                HostedZone($0, places: [80: addresses[2], 443: addresses[3]])
            } : nil
    }

    /// Serves until `stop`.
    ///
    /// - Returns: whether every connection ended by itself.
    package func run() async -> Bool {
        let endedInOrder = await server.run()
        uploads?.remove()
        return endedInOrder
    }

    package func stop() {
        server.stop()
    }

    /// A line in the schema `sallyport.content/1`.
    package func json(processID: Int32) -> JSONText {
        [
            "schema": "sallyport.content/1", "http": .string(http.description),
            "https": .string(https.description), "ca": .string(authority.certificatePath),
            "pid": .integer(Int64(processID)),
        ]
    }

    /// Where it is, for the ready line.
    package var place: JSONText {
        [
            "http": .string(http.description), "https": .string(https.description),
            "ca": .string(authority.certificatePath),
        ]
    }
}
