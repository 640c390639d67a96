import Base
import ContentServer
import HTTPServer
import TLS
import Testing

/// Digest authentication, against a client written from RFC 7616 alone.
struct DigestLoginTests {
    private static let server = ContentServer(ContentServerConfiguration())

    private static func answer(
        _ method: String, _ path: String, _ authorization: String? = nil, body: String = ""
    ) async throws -> ServerResponse {
        await server.answer(
            try request(method, path, authorization.map { [("Authorization", $0)] } ?? []),
            RequestBody([UInt8](body.utf8)))
    }

    private static func hash(_ algorithm: String, _ text: String) -> String {
        let bytes = [UInt8](text.utf8)
        return (algorithm.hasPrefix("SHA") ? Digests.sha256(bytes) : Digests.md5(bytes)).hex
    }

    /// The parameters of a challenge.
    private static func parameters(_ challenge: String) -> [String: String] {
        var found: [String: String] = [:]
        for part in challenge.dropFirst("Digest ".count).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            let name = pair[0].filter { $0 != " " }
            found[String(name)] = pair[1].filter { $0 != "\"" }
        }
        return found
    }

    private static func credentials(
        _ challenge: String, _ method: String, _ target: String, user: String = "alice",
        password: String = "alice", count: String = "00000001", body: String = ""
    ) -> String {
        let given = parameters(challenge)
        let algorithm = given["algorithm"] ?? ""
        let nonce = given["nonce"] ?? ""
        var key = hash(algorithm, "\(user):\(given["realm"] ?? ""):\(password)")
        if algorithm.hasSuffix("-sess") { key = hash(algorithm, "\(key):\(nonce):0a4f") }
        var action = "\(method):\(target)"
        if given["qop"] == "auth-int" { action += ":" + hash(algorithm, body) }
        let quality = given["qop"]
        let middle = quality.map { "\(nonce):\(count):0a4f:\($0)" } ?? nonce
        let response = hash(algorithm, "\(key):\(middle):\(hash(algorithm, action))")
        let protection = quality.map { ", qop=\($0), nc=\(count), cnonce=\"0a4f\"" } ?? ""
        return "Digest username=\"\(user)\", realm=\"sallyport\", nonce=\"\(nonce)\""
            + ", uri=\"\(target)\", algorithm=\(algorithm)\(protection), response=\"\(response)\""
            + ", opaque=\"\(given["opaque"] ?? "")\""
    }

    private static func challenge(_ path: String) async throws -> String {
        let refusal = try await answer("GET", path)
        #expect(refusal.status == 401)
        return try #require(refusal.first("WWW-Authenticate"))
    }

    @Test(
        arguments: ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess"], ["auth", "auth-int", "none"])
    func letsIn(_ algorithm: String, _ quality: String) async throws {
        let path = "/digest/alice?algorithm=\(algorithm)&qop=\(quality)"
        let challenge = try await Self.challenge(path)
        #expect(challenge.contains("algorithm=\(algorithm)"))
        let isSession = algorithm.hasSuffix("-sess")
        let credentials = Self.credentials(challenge, "PUT", path, body: "content")
        let response = try await Self.answer("PUT", path, credentials, body: "content")
        // A session's key needs the client's nonce, which clients of old do not send.
        #expect(response.status == (isSession && quality == "none" ? 401 : 200))
        let wrong = Self.credentials(challenge, "PUT", path, password: "bob", body: "content")
        #expect(try await Self.answer("PUT", path, wrong, body: "content").status == 401)
        let changed = try await Self.answer("PUT", path, credentials, body: "contents")
        #expect(changed.status == (quality == "auth-int" ? 401 : response.status))
        if quality == "auth", !isSession {
            let proof = try #require(response.first("Authentication-Info"))
            let given = Self.parameters(challenge)
            let key = Self.hash(algorithm, "alice:sallyport:alice")
            let end = Self.hash(algorithm, ":\(path)")
            let expected = Self.hash(
                algorithm, "\(key):\(given["nonce"] ?? ""):00000001:0a4f:auth:\(end)")
            #expect(proof.contains("rspauth=\"\(expected)\""))
        }
    }

    /// A nonce is good for so many requests; after that the same client gets a new one.
    @Test func nonceGrowsStale() async throws {
        let path = "/digest/alice?uses=2"
        var challenge = try await Self.challenge(path)
        for _ in 0..<3 {
            for (count, status) in [("00000001", 200), ("00000002", 200), ("00000003", 401)] {
                let credentials = Self.credentials(challenge, "GET", path, count: count)
                let response = try await Self.answer("GET", path, credentials)
                #expect(response.status == status)
                guard status == 401 else { continue }
                let next = try #require(response.first("WWW-Authenticate"))
                #expect(next.hasSuffix(", stale=true"))
                #expect(Self.parameters(next)["nonce"] != Self.parameters(challenge)["nonce"])
                challenge = next
            }
        }
        let wrong = Self.credentials(challenge, "GET", path, password: "bob", count: "00000003")
        let response = try await Self.answer("GET", path, wrong)
        #expect(response.first("WWW-Authenticate")?.contains("stale") == false)
    }

    @Test(arguments: [
        ("nonce", "0-0", 401), ("nonce", "", 401), ("nonce", "zz-1", 401),
        ("nonce", "ffffffffffffffffffff-1", 401), ("uri", "/digest/bob", 400),
        ("username", "bob", 401), ("realm", "other", 401), ("response", "", 401),
    ])
    func refuses(_ name: String, _ value: String, _ status: Int) async throws {
        let path = "/digest/alice"
        let credentials = Self.credentials(try await Self.challenge(path), "GET", path)
        let parts = credentials.dropFirst("Digest ".count).split(separator: ", ").map { part in
            part.hasPrefix("\(name)=") ? "\(name)=\"\(value)\"" : String(part)
        }
        let changed = "Digest " + parts.joined(separator: ", ")
        #expect(try await Self.answer("GET", path, changed).status == status)
    }

    @Test(arguments: [
        "Digest", "Digest ", "Digest x", "Digest =", "Digest a=\"", "Digest a=\"b\\", "Basic a=b",
        "Digest nonce=a, nonce=b", "Digest a=b c=d", "digest,", "Digest ,,",
    ])
    func refusesBrokenSyntax(_ authorization: String) async throws {
        #expect(try await Self.answer("GET", "/digest/alice", authorization).status == 401)
    }

    @Test(arguments: [
        ("/digest/alice?algorithm=sha-1", 400), ("/digest/alice?qop=other", 400),
        ("/digest/alice?uses=x", 400), ("/digest-auth/auth/u/p/SHA-1", 400),
        ("/digest-auth/auth/u/p", 401), ("/digest-auth/auth-int/u/p/MD5", 401),
        ("/digest-auth/auth/u/p/SHA-256/never", 401), ("/digest-auth/auth/u/p/MD5/1", 401),
    ])
    func answers(_ path: String, _ status: Int) async throws {
        #expect(try await Self.answer("GET", path).status == status)
    }

    @Test func servesHttpbinsPaths() async throws {
        let path = "/httpbin/digest-auth/auth/me/secret/SHA-256"
        let challenge = try await Self.challenge(path)
        let credentials = Self.credentials(
            challenge, "GET", path, user: "me", password: "secret")
        let response = try await Self.answer("GET", path, credentials)
        #expect(try await response.content().text == "{\"authenticated\":true,\"user\":\"me\"}\n")
    }
}
