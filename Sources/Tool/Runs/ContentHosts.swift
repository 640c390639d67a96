internal import Audit
internal import Base
internal import Catalogue
package import ContentServer
package import HTTPServer
internal import Launching
internal import Origins
internal import Proxy
internal import Sockets
internal import Synchronization
package import TLS
internal import Transport

/// The TLS hosts of the content server: the probes of the catalogue, each by its name below a zone.
package final class ContentHosts: TLSHosts {
    private let presenter: CataloguePresenter
    private let issuer: ChainIssuer
    private let keys: KeyCache
    /// Keys that take long, each made once, by a thread of its own.
    private let making = Mutex<[CertificateRecipe.KeyKind: OneTimeBox<Bool>]>([:])
    private let probes: [String: ProbeDescription]
    private let zones: [String]
    private let authority: CertificateAuthority
    /// Made when it is first asked for: every chain is made for it.
    private let listing = Mutex<Task<[ContentHost], Never>?>(nil)

    /// - Parameters:
    ///   - authority: one that may issue authorities below itself.
    ///   - folder: where keys are kept that take long to make.
    ///   - zone: such as `sallyport.test`.
    /// Errors: `certificate-invalid`.
    init(
        _ authority: CertificateAuthority, keysIn folder: String, zone: String
    ) throws(Failure) {
        self.authority = authority
        let catalogue = Catalogue.builtIn()
        keys = KeyCache(folder: folder)
        issuer = try ChainIssuer(authority: try AuditAuthority(authority), keys: keys)
        presenter = CataloguePresenter(
            issuer: issuer, catalogue: catalogue, token: "sallyport-content",
            now: { MonotonicTime.now().nanoseconds / 1_000_000 })
        probes = Dictionary(
            catalogue.entries.filter(\.isHost).map { ($0.identifier, $0) },
            uniquingKeysWith: { first, _ in first })
        zones = [HostPattern.canonical(zone.lowercased()), Self.localZone]
    }

    /// Resolves to this machine by itself in many clients (RFC 6761 §6.3).
    private static let localZone = "sallyport.localhost"

    /// Names that people know from public sites of this kind.
    private static let aliases = [
        "expired": "time-expired", "self-signed": "trust-self-signed",
        "untrusted-root": "trust-unknown-root", "wrong-host": "name-wrong-host",
        "revoked": "revocation-ocsp-revoked-stapled", "no-common-name": "control-empty-subject",
        "incomplete-chain": "chain-missing-intermediate", "sha1-intermediate": "crypto-int-sha1",
        "1000-sans": "control-1000-sans", "rsa8192": "control-leaf-rsa8192",
        "dh512": "handshake-logjam-512", "dh1024": "handshake-logjam-1024",
        "null": "handshake-null-cipher", "static-rsa": "handshake-static-rsa-only",
        "tls-v1-0": "handshake-tls10", "tls-v1-1": "handshake-tls11", "tls-v1-2": "control-tls12",
        "http": "plaintext-http-on-tls-port",
    ]

    /// What is listed.
    package func list() async -> [ContentHost] {
        let zone = zones[0]
        let own = [
            ContentHost(
                name: "assets.\(zone)", title: "A sound server, as is any other name",
                expectation: "accept"),
            ContentHost(
                name: "\(HostRoutes.askingLabel).\(zone)",
                title: "A sound server that asks for a client certificate", expectation: "accept"),
            ContentHost(
                name: "\(HostRoutes.demandingLabel).\(zone)",
                title: "One that serves who shows a client certificate of its CA",
                expectation: "accept"),
        ]
        let task = listing.withLock { listing in
            let task = listing ?? Task.detached { [self] in findPossible() }
            listing = task
            return task
        }
        return own + (await task.value)
    }

    /// The probes that can be shown at their names: some are flaws of addresses alone.
    private func findPossible() -> [ContentHost] {
        probes.values.sorted { $0.identifier < $1.identifier }.compactMap { probe in
            let host = ContentHost(
                name: "\(probe.identifier).\(zones[0])", title: probe.title,
                expectation: probe.expectation.rawValue)
            return presenter.isPossible(probe, at: host.name) ? host : nil
        }
    }

    /// A certificate for clients with its key, in PEM; `nil` if OpenSSL makes none.
    package func issueClientCertificate() -> [UInt8]? {
        var recipe = CertificateRecipe(name: "leaf")
        do throws(Failure) {
            recipe.extendedKeyUsage = .text(RecipeText(literal: "clientAuth"))
            let chain = try issuer.present([recipe], host: "client.\(zones[0])", origin: [])
            return chain.certificates.flatMap(\.pem) + chain.key.pem
        } catch {
            return nil
        }
    }

    package func host(for hello: ClientHello) async -> TLSHost {
        // Providers of pushes may have a certificate in place of a token.
        if hello.serverName?.lowercased().hasPrefix("api.") == true { return asking }
        guard let label = label(of: hello) else { return .sound() }
        if label == HostRoutes.askingLabel || label == HostRoutes.demandingLabel { return asking }
        guard let probe = probes[Self.aliases[label] ?? label] else { return .sound() }
        for kind in Set(probe.chain.map(\.key)) { await prepare(kind) }
        let presenter = presenter
        let made = await Task.detached {
            do throws(Failure) {
                return Result<ProbeServer, Failure>.success(try presenter.server(probe, for: hello))
            } catch {
                return .failure(error)
            }
        }.value
        switch made {
        case .success(.tls(let configuration)): return .other(configuration)
        case .success(.machine(let machine)):
            return .taken { channel, early in
                _ = await ProbeRelay(channel, writeTimeout: Self.writeTimeout).run(machine, early)
            }
        case .failure:
            // It is no flaw of a name like this one, and must not pass for sound.
            return .taken { channel, early in
                channel.loop.buffers.give(early)
                let alert = channel.loop.buffers.take()
                defer { channel.loop.buffers.give(alert) }
                alert.append(Self.unrecognizedName)
                do throws(StreamFailure) {
                    try await PlainStream(channel).write(alert)
                } catch {}
            }
        }
    }

    /// Waits until a key is there that takes up to half a minute to be made.
    private func prepare(_ kind: CertificateRecipe.KeyKind) async {
        guard kind.takesLong else { return }
        let (box, isMine) = making.withLock { making in
            if let box = making[kind] { return (box, false) }
            let box = OneTimeBox<Bool>()
            making[kind] = box
            return (box, true)
        }
        if isMine {
            startThread(named: "key") { [keys] in
                do throws(Failure) {
                    _ = try keys.key(kind)
                    box.set(true)
                } catch {
                    // Whoever shows it finds the same.
                    box.set(false)
                }
            }
        }
        _ = await box.get()
    }

    private var asking: TLSHost { .sound(clientAuthorities: [authority.certificate]) }

    /// The label below a zone; `nil` for other names.
    private func label(of hello: ClientHello) -> String? {
        guard let asked = hello.serverName?.lowercased() else { return nil }
        let name = HostPattern.canonical(asked)
        for zone in zones where name.hasSuffix("." + zone) {
            return String(name.dropLast(zone.utf8.count + 1))
        }
        return nil
    }

    /// A fatal alert in a record of its own (RFC 6066 §3).
    private static let unrecognizedName: [UInt8] = [21, 3, 3, 0, 2, 2, 112]
    /// In milliseconds.
    private static let writeTimeout: UInt64 = 30_000
}
