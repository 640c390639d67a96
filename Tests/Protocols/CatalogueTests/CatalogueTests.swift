import Base
import TLS
import Testing

@testable import Catalogue

struct CatalogueTests {
    private let folder = TemporaryFolder()
    private let builtIn = Catalogue.builtIn()

    // MARK: The built-in ones

    @Test func hasEachFileOnce() {
        #expect(builtIn.entries.count == embeddedProbes.count)
        #expect(Set(builtIn.entries.map(\.identifier)).count == builtIn.entries.count)
        #expect(builtIn.entries.count > 160)
    }

    @Test func hasFilesInTheFoldersOfTheirFamilies() {
        for (path, _) in embeddedProbes {
            let parts = path.split(separator: "/")
            #expect(parts.first == "Certs" && parts.count == 3, "\(path)")
            #expect(parts[2].hasPrefix("\(parts[1])-"), "\(path)")
        }
    }

    @Test func hasThirteenQuickOnes() {
        #expect(
            builtIn.entries(in: .quick).map(\.identifier) == [
                "control-good", "trust-self-signed", "trust-unknown-root",
                "trust-impostor-root-same-name", "trust-mimic-leaf-real-issuers",
                "name-wrong-host", "name-cn-match-san-mismatch", "time-expired",
                "purpose-eku-client-only", "chain-leaf-as-ca", "handshake-goto-fail",
                "handshake-anon", "plaintext-redirect-to-http",
            ])
    }

    @Test func triesAllThatMustBeRefusedByDefault() {
        let standard = Set(builtIn.entries(in: .standard).map(\.identifier))
        for probe in builtIn.entries {
            let isExpected = probe.expectation == .refuse || probe.profile == .quick
            #expect(standard.contains(probe.identifier) == isExpected, "\(probe.identifier)")
        }
        #expect(builtIn.entries(in: .full).count == builtIn.entries.count)
    }

    @Test func tellsWhyAndWhatToDo() {
        for probe in builtIn.entries {
            #expect(!probe.title.isEmpty && probe.title.count <= 70, "\(probe.identifier)")
            #expect(probe.reason.hasSuffix("."), "\(probe.identifier)")
            #expect(!probe.source.isEmpty && !probe.fix.isEmpty, "\(probe.identifier)")
            #expect(!probe.title.hasSuffix("."), "\(probe.identifier)")
            if probe.expectation == .refuse || probe.expectation == .warn {
                #expect(!probe.weaknesses.isEmpty && !probe.controls.isEmpty)
                #expect(probe.severity > .info, "\(probe.identifier)")
            }
            for name in probe.history { #expect(name.hasPrefix("CVE-"), "\(probe.identifier)") }
        }
    }

    /// What clients accept that are correct by default may never be called a failure.
    @Test(arguments: [
        "name-cn-match-san-mismatch", "purpose-eku-client-only", "purpose-eku-codesigning",
        "crypto-leaf-rsa512", "crypto-leaf-rsa1024", "crypto-leaf-sha1", "crypto-leaf-dsa1024",
        "handshake-tls10", "handshake-tls11", "handshake-logjam-1024", "name-cn-only",
        "revocation-must-staple-no-staple", "purpose-ku-no-digitalsignature",
        "plaintext-redirect-to-http",
    ])
    func accusesNoCorrectClient(_ identifier: String) throws {
        let probe = try #require(builtIn.entry(identifier))
        #expect([.warn, .inform].contains(probe.expectation))
    }

    @Test(
        arguments: [
            ("control-good", [.authority]), ("trust-self-signed", []), ("trust-unknown-root", []),
            ("trust-mimic-leaf-real-issuers", [.originChain]),
            ("trust-pin-appended", [.originChain]),
            ("trust-impostor-root-same-name", [.authority]), ("trust-impostor-public-root", []),
            ("name-wrong-host", [.authority]), ("chain-untrusted-loop", []),
            ("crypto-leaf-dsa1024", [.authority, .offer]), ("handshake-anon", [.offer]),
            ("handshake-goto-fail-origin", [.originChain]),
            ("trust-unknown-root-plus-real-chain", [.authority]),
        ] as [(String, Set<ProbeRequirement>)])
    func knowsWhatAProbeNeeds(_ identifier: String, _ needed: Set<ProbeRequirement>) throws {
        #expect(try #require(builtIn.entry(identifier)).requirements == needed)
    }

    // MARK: A user's

    private func write(_ name: String, _ text: String) throws {
        let parts = name.split(separator: "/")
        if parts.count > 1 { try Files.makeFolder(folder.file(String(parts[0]))) }
        try Files.create(folder.file(name), Array(text.utf8))
    }

    @Test func addsAndReplaces() throws {
        try write("name-mine.probe", "title: Mine\nreason: Because.\n[leaf]\nsan: dns:mine.test\n")
        try write("name/name-wrong-host.probe", "title: Other\nreason: Because.\n[leaf]\n")
        try write("README.md", "not a probe")
        let loaded = try Catalogue.load(folder: folder.path)
        #expect(loaded.entries.count == builtIn.entries.count + 1)
        #expect(loaded.entry("name-mine")?.title == "Mine")
        #expect(loaded.entry("name-wrong-host")?.title == "Other")
        #expect(loaded.entry("time-expired") == builtIn.entry("time-expired"))
        #expect(loaded.entries(in: .standard).contains { $0.identifier == "name-mine" })
    }

    @Test func namesTheFileAndTheLine() throws {
        try write("name-mine.probe", "title: Mine\n\nseverity: huge\n")
        let failure = #expect(throws: Failure.self) { _ = try Catalogue.load(folder: folder.path) }
        #expect(failure?.code == "catalogue-invalid")
        #expect(
            failure?.detail
                == "\(folder.file("name-mine.probe")):3: unknown severity 'huge', expected info, "
                + "low, medium, high, critical")
    }

    // MARK: A user's certificates

    /// An authority whose key is known, and a leaf of its with a key.
    private func makeFiles() throws {
        let made = shell(
            """
            mkdir -p \(folder.file("trust")) && cd \(folder.file("trust")) && \
            openssl req -x509 -newkey rsa:2048 -nodes -keyout root.key -out root.pem \
            -subj /CN=Known && openssl req -new -newkey rsa:2048 -nodes -keyout leaf.key \
            -subj /CN=a.test -out leaf.csr && openssl x509 -req -in leaf.csr -CA root.pem \
            -CAkey root.key -CAcreateserial -out leaf.pem && cat leaf.pem root.pem >chain.pem
            """)
        try #require(made.status == 0, "\(made.output)")
    }

    @Test func showsAndIssuesWithAUsersCertificates() throws {
        try makeFiles()
        try write(
            "trust/trust-known.probe",
            """
            title: T
            reason: R.
            [leaf]
            [root]
            chain-file: root.pem
            key-file: root.key
            presented: no
            """)
        try write(
            "trust/name-real.probe",
            """
            title: T
            reason: R.
            [leaf]
            chain-file: \(folder.file("trust"))/chain.pem
            key-file: leaf.key
            """)
        let loaded = try Catalogue.load(folder: folder.path)
        let laboratory = try ChainLaboratory.shared.get()
        let issued = try #require(loaded.entry("trust-known"))
        #expect(issued.requirements.isEmpty && issued.chain[0].issuer == .named("root"))
        let made = try laboratory.present(issued, host: "www.a.test")
        #expect(made.certificates.count == 1 && made.key.belongs(to: made.certificates[0]))
        try Files.create(folder.file("made.pem"), made.certificates[0].pem)
        let verdict = shell(
            "openssl verify -CAfile \(folder.file("trust"))/root.pem -verify_hostname www.a.test "
                + folder.file("made.pem"))
        #expect(verdict.status == 0, "\(verdict.output)")
        let real = try #require(loaded.entry("name-real"))
        let shown = try laboratory.present(real, host: "other.test")
        #expect(shown.certificates.map(\.subject) == ["CN=a.test", "CN=Known"])
        #expect(shown.key.belongs(to: shown.certificates[0]))
    }

    /// What the client is to trust comes from a file, or is made with the chain.
    @Test func knowsWhatIsToBeTrusted() throws {
        try makeFiles()
        try write(
            "trust/chain-real.probe",
            """
            title: T
            reason: R.
            host: A.test
            trust-file: root.pem
            [leaf]
            chain-file: chain.pem
            key-file: leaf.key
            """)
        let real = try #require(try Catalogue.load(folder: folder.path).entry("chain-real"))
        #expect(real.host == "a.test" && real.hasOwnAnchors)
        #expect(real.requirements == [.authority])
        let anchors = try Certificate.all(inPEM: real.trustAnchors, name: "anchors")
        #expect(anchors.map(\.subject) == ["CN=Known"])
        let made = try #require(builtIn.entry("time-expired-anchor"))
        #expect(made.hasOwnAnchors && made.requirements == [.authority])
        let chain = try ChainLaboratory.shared.get().present(made, host: "www.a.test")
        #expect(chain.certificates.count == 1 && chain.anchors.count == 1)
        #expect(chain.anchors.first?.subject == chain.certificates.first?.issuer)
    }

    @Test(arguments: [
        ("[leaf]\nchain-file: root.pem", 3, "the first certificate has no key of ours"),
        ("[leaf]\nchain-file: no.pem\nkey-file: root.key", 4, "cannot"),
        ("[leaf]\nchain-file: root.key\nkey-file: root.key", 4, "chain-file 'root.key': no"),
        ("[leaf]\nchain-file: root.pem\nkey-file: root.pem", 5, "key-file 'root.pem': cannot"),
        ("[leaf]\nchain-file: root.pem\nkey-file: leaf.key", 5, "the key is not the first"),
        ("[leaf]\nkey-file: leaf.key", 4, "'key-file' is there without 'chain-file: …'"),
        ("[leaf]\n[root]\nchain-file: root.pem\nsan: dns:a", 6, "'san' beside 'chain-file'"),
    ])
    func tellsWhatIsWrongWithAUsersCertificates(_ text: String, _ line: Int, _ what: String) throws
    {
        try makeFiles()
        try write("trust/trust-known.probe", "title: T\nreason: R.\n" + text)
        let failure = #expect(throws: Failure.self) { _ = try Catalogue.load(folder: folder.path) }
        #expect(failure?.code == "catalogue-invalid")
        let detail = failure?.detail ?? ""
        #expect(detail.contains("trust-known.probe:\(line): "), "\(detail)")
        #expect(detail.contains(what), "\(detail)")
    }

    @Test func wantsAFolderWithProbes() throws {
        #expect(
            #expect(throws: Failure.self) { _ = try Catalogue.load(folder: folder.path) }?.code
                == "catalogue-invalid")
        #expect(
            #expect(throws: Failure.self) { _ = try Catalogue.load(folder: folder.file("no")) }?
                .code == "file-unreadable")
    }
}
