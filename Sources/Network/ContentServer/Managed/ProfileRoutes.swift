internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer
internal import TLS

/// `/profiles/…`: configuration profiles as a query asks for them, signed or not, and what is wrong
/// with one.
struct ProfileRoutes {
    let authority: CertificateAuthority?
    let managed: ManagedRoutes

    var routes: [Route] {
        [
            .get("/profiles/:name", profile),
            Route([.post], "/profiles/lint") { request, body in
                guard request.isLocal else { return .plain(403) }
                do throws(Failure) {
                    return Self.lint(try await body.collect(byteLimit: Self.byteLimit))
                } catch {
                    return .unreadable(error)
                }
            },
        ]
    }

    // MARK: Making

    private func profile(_ request: ServerRequest) -> ServerResponse {
        let name = request.match["name"].text
        guard name.hasSuffix(Self.suffix),
            let identifier = ContentName.text(Array(name.utf8.dropLast(Self.suffix.utf8.count)))
        else { return .plain(404) }
        do throws(Failure) {
            let query = ProfileQuery(request.path.query ?? [])
            let payloads = try query.payloads(authority: authority?.certificate, managed)
            guard !payloads.isEmpty else { return .words(400, ProfileQuery.usage) }
            let profile = ConfigurationProfile(
                identifier: "org.sallyport.content.\(identifier)", title: identifier,
                description: "Made by a Sallyport content server, for tests.", payloads
            ) { purpose in
                UUIDText.text(
                    Digests.sha256([UInt8]("profile \(identifier) \(purpose)".utf8)), version: 8
                ).uppercased()
            }
            var content = profile.document
            if query["sign"] != nil {
                guard let signed = try authority?.signed(content, as: "profiles.sallyport.test")
                else {
                    return .words(503, "there is no CA to sign with")
                }
                content = signed
            }
            return ServerResponse(
                200,
                [
                    ResponseField("Content-Type", ConfigurationProfile.mediaType),
                    ResponseField("Cache-Control", "no-store"),
                ], body: .bytes(content))
        } catch {
            return .words(error.party == .client ? 400 : 500, error.detail)
        }
    }

    // MARK: Judging

    private static func lint(_ content: [UInt8]) -> ServerResponse {
        // 0x30 begins DER. What is in a signature that is not right is not looked at.
        let isCoded = content.first == 0x30
        let signed = isCoded ? SignedContent.content(of: content) : nil
        let findings = ProfileLint.findings(signed ?? (isCoded ? [] : content))
        return json(
            200,
            [
                "schema": "sallyport.profile-lint/1", "signed": .boolean(signed != nil),
                "valid": .boolean(findings.allSatisfy(\.isWarning)),
                "findings": .each(findings) { finding in
                    [
                        "code": .string(finding.code.rawValue),
                        "severity": finding.isWarning ? "warning" : "error",
                        "path": .string(finding.path), "text": .string(finding.text),
                    ]
                },
            ])
    }

    private static let suffix = ".mobileconfig"
    private static let byteLimit = 1 << 20
}

/// Which payloads a profile gets, by the names of its query.
struct ProfileQuery {
    private let items: [FormItem]

    init(_ query: [UInt8]) {
        items = FormItem.parse(query[...])
    }

    static let usage =
        "say what the profile is for: ca=1, proxy=HOST:PORT, pac=URL, relay=URL (and match=DOMAINS), "
        + "sso=REALM (and hosts=HOSTS), kerberos=REALM (and prefixes=URLS), managed=APP; and sign=1"

    subscript(name: String) -> String? {
        items.first { $0.name.elementsEqual(name.utf8) }?.value.text
    }

    private func list(_ name: String) -> PropertyListText {
        .array((self[name] ?? "").split(separator: ",").map { .string(String($0)) })
    }

    /// Errors: `profile-invalid`.
    func payloads(
        authority: Certificate?, _ managed: ManagedRoutes
    ) throws(Failure) -> [ConfigurationProfile.Payload] {
        var payloads: [ConfigurationProfile.Payload] = []
        if self["ca"] != nil {
            guard let authority else { throw Self.refused("there is no CA") }
            payloads.append(
                .authority(
                    authority.der, isRoot: authority.isSelfIssued, title: authority.subject,
                    description: "Lets a content server show certificates of its own",
                    file: "sallyport-content.cer"))
        }
        if self["proxy"] != nil || self["pac"] != nil { payloads.append(try proxy()) }
        if let relay = self["relay"] {
            let own = [Self.entry("HTTP2RelayURL", .string(relay))]
            payloads.append(
                ConfigurationProfile.Payload(
                    "com.apple.relay.managed", name: "relay", title: "Relay",
                    [Self.entry("Relays", .array([.dictionary(own)]))]
                        + (self["match"] == nil
                            ? [] : [Self.entry("MatchDomains", list("match"))])))
        }
        if let realm = self["sso"] { payloads.append(extensibleLogin(realm)) }
        if let realm = self["kerberos"] {
            let kerberos: [PropertyListText.Entry] = [
                Self.entry("Realm", .string(realm)),
                Self.entry("URLPrefixMatches", list("prefixes")),
            ]
            payloads.append(
                ConfigurationProfile.Payload(
                    "com.apple.sso", name: "kerberos", title: "Single sign-on",
                    [
                        Self.entry("Name", .string(realm)),
                        Self.entry("Kerberos", .dictionary(kerberos)),
                    ]))
        }
        if let app = self["managed"] {
            guard let dictionary = managed.propertyList(app) else {
                throw Self.refused("there is no configuration for \(app)")
            }
            let forced: PropertyListText = [
                "Forced": .array([["mcx_preference_settings": dictionary]])
            ]
            payloads.append(
                ConfigurationProfile.Payload(
                    "com.apple.ManagedClient.preferences", name: "managed", title: app,
                    [
                        Self.entry(
                            "PayloadContent",
                            .dictionary([Self.entry(app, forced)]))
                    ]))
        }
        return payloads
    }

    /// For all that a supervised device sends.
    private func proxy() throws(Failure) -> ConfigurationProfile.Payload {
        var entries: [PropertyListText.Entry] = []
        if let script = self["pac"] {
            entries = [
                Self.entry("ProxyType", "Auto"), Self.entry("ProxyPACURL", .string(script)),
                Self.entry("ProxyPACFallbackAllowed", false),
            ]
        } else if let text = self["proxy"] {
            guard let place = HostPort(text) else {
                throw Self.refused("proxy is HOST:PORT")
            }
            entries = [
                Self.entry("ProxyType", "Manual"),
                Self.entry("ProxyServer", .string(place.host)),
                Self.entry("ProxyServerPort", .integer(Int64(place.port))),
            ]
        }
        entries.append(Self.entry("ProxyCaptiveLoginAllowed", false))
        return ConfigurationProfile.Payload(
            "com.apple.proxy.http.global", name: "proxy", title: "Proxy", entries)
    }

    /// By the Kerberos extension that devices have.
    private func extensibleLogin(_ realm: String) -> ConfigurationProfile.Payload {
        ConfigurationProfile.Payload(
            "com.apple.extensiblesso", name: "sso", title: "Single sign-on",
            [
                Self.entry("ExtensionIdentifier", "com.apple.AppSSOKerberos.KerberosExtension"),
                Self.entry("TeamIdentifier", "apple"), Self.entry("Type", "Credential"),
                Self.entry("Realm", .string(realm)), Self.entry("Hosts", list("hosts")),
            ])
    }

    private static func entry(
        _ key: String, _ value: PropertyListText
    ) -> PropertyListText.Entry {
        PropertyListText.Entry(key, value)
    }

    private static func refused(_ text: String) -> Failure {
        Failure("profile-invalid", party: .client, text)
    }
}
