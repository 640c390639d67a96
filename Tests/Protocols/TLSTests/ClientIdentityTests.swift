import Base
import Testing

@testable import TLS

/// Files with a certificate and its key, as they come out of the `openssl` command.
struct ClientIdentityTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// Makes `file`, and perhaps `key`, of `client.pem`, `client.key` and `ca.pem`.
        let make: String
        var hasKeyFile = false
        var passwords: [String] = []
        /// How many certificates are shown; `nil` for a failure.
        var count: Int? = 1
        var code = ""
        var told = ""

        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "PEM", make: "cat client.pem client.key >file"),
        Row(name: "the key first", make: "cat client.key client.pem >file"),
        Row(name: "with its chain", make: "cat client.key client.pem ca.pem >file", count: 2),
        Row(name: "the chain first", make: "cat ca.pem client.pem client.key >file", count: 2),
        Row(
            name: "a key of its own", make: "cp client.pem file; cp client.key key",
            hasKeyFile: true),
        Row(
            name: "an encrypted key", make: "\(lock); cat client.pem locked >file",
            passwords: ["other", "secret"]),
        Row(
            name: "an encrypted key without its password",
            make: "\(lock); cat client.pem locked >file",
            count: nil, code: "key-invalid", told: "--client-cert-password-file"),
        Row(name: "PKCS #12", make: "\(pack) -passout pass:secret", passwords: ["secret"]),
        Row(
            name: "PKCS #12 with its chain", make: "\(pack) -certfile ca.pem -passout pass:secret",
            passwords: ["other", "secret"], count: 2),
        Row(name: "PKCS #12 without a password", make: "\(pack) -passout pass:"),
        Row(
            name: "PKCS #12 without its password", make: "\(pack) -passout pass:secret",
            passwords: ["other"], count: nil, code: "key-invalid",
            told: "--client-cert-password-file"),
        Row(
            name: "no key", make: "cp client.pem file", count: nil, code: "key-invalid",
            told: "HOST=file:KEYFILE"),
        Row(name: "no certificate", make: "cp client.key file", count: nil, code: "key-mismatch"),
        Row(
            name: "another's key", make: "cp ca.pem file; cp client.key key", hasKeyFile: true,
            count: nil, code: "key-mismatch"),
        Row(
            name: "something else", make: "printf '0123' >file", count: nil,
            code: "certificate-invalid"),
        Row(name: "nothing", make: ": >file", count: nil, code: "key-invalid"),
    ]

    private static let lock = "openssl pkcs8 -topk8 -in client.key -passout pass:secret -out locked"
    private static let pack = "openssl pkcs12 -export -in client.pem -inkey client.key -out file"

    @Test(arguments: rows)
    func readsWhatAUserHas(_ row: Row) throws {
        let folder = TemporaryFolder()
        let made = shell(
            """
            cd \(folder.path) && \
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=CA \
            -keyout ca.key -out ca.pem 2>/dev/null && \
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=client \
            -keyout client.key -out client.csr 2>/dev/null && \
            openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -out client.pem 2>/dev/null \
            && \(row.make)
            """)
        #expect(made.status == 0, "\(made.output)")
        func read() throws(Failure) -> ClientIdentity {
            try ClientIdentity.read(
                Files.read(folder.file("file")), name: "file",
                key: row.hasKeyFile ? (Files.read(folder.file("key")), "key") : nil,
                passwords: row.passwords)
        }
        guard let count = row.count else {
            let failure = #expect(throws: Failure.self) { try read() }
            #expect(failure?.code == row.code)
            let hint = failure?.hint ?? ""
            #expect(row.told.isEmpty || hint.contains(row.told))
            return
        }
        let identity = try read()
        #expect(identity.certificates.count == count)
        #expect(identity.certificates.first?.subject == "CN=client")
        #expect(identity.key.belongs(to: try #require(identity.certificates.first)))
    }
    /// A server takes a client's chain that leads to one of its authorities, and is for clients.
    @Test(arguments: [
        ("sound", "", "", true), ("for clients", "extendedKeyUsage=clientAuth", "", true),
        ("for servers", "extendedKeyUsage=serverAuth", "", false),
        ("of yesterday", "", "-days -1", false),
    ])
    func verifies(_ name: String, _ use: String, _ life: String, _ isSound: Bool) throws {
        let folder = TemporaryFolder()
        let made = shell(
            """
            cd \(folder.path) && \
            for n in ca other; do openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 \
            -nodes -subj /CN=CA -keyout $n.key -out $n.pem 2>/dev/null; done && \
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=client \
            -keyout client.key -out client.csr 2>/dev/null && printf '%s\\n' '\(use)' >use && \
            openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -extfile use \(life) \
            -out client.pem 2>/dev/null
            """)
        #expect(made.status == 0, "\(made.output)")
        func read(_ name: String) throws -> Certificate {
            try Certificate(pem: Files.read(folder.file(name)), name: name)
        }
        let (authority, other) = (try read("ca.pem"), try read("other.pem"))
        let chain = [try read("client.pem").der]
        #expect(Certificate.verifies(clientChain: chain, trusting: [other, authority]) == isSound)
        #expect(!Certificate.verifies(clientChain: chain, trusting: [other]))
        #expect(!Certificate.verifies(clientChain: chain, trusting: []))
        #expect(!Certificate.verifies(clientChain: [], trusting: [authority]))
        #expect(!Certificate.verifies(clientChain: chain + [[0x30]], trusting: [authority]))
    }
}
