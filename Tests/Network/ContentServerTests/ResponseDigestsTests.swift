import Base
import HTTPCodecs
import HTTPModel
import HTTPServer
import Testing

@testable import ContentServer

struct ResponseDigestsTests {
    /// The example of RFC 9530 appendix B.
    private static let text = "{\"hello\": \"world\"}\n"
    private static let whole = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
    private static let part = "sha-256=:jjcgBDWNAtbYUXI37CVG3gRuGOAjaaDRGpIUFsdyepQ=:"
    private static let long =
        "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCs"
        + "yRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"

    struct Row: Sendable, CustomTestStringConvertible {
        let request: [String]
        var path = "/a"
        var method = "GET"
        var status = 200
        /// The digest fields of the head.
        let fields: [String]
        var testDescription: String { "\(method) \(path) \(request)" }
    }

    @Test(arguments: [
        Row(request: [], fields: []),
        Row(request: ["Want-Repr-Digest: sha-256=10"], fields: ["Repr-Digest: \(whole)"]),
        Row(request: ["want-repr-digest: SHA-256=1"], fields: ["Repr-Digest: \(whole)"]),
        Row(
            request: ["Want-Repr-Digest: sha-256=3, sha-512=10"], fields: ["Repr-Digest: \(long)"]),
        Row(
            request: ["Want-Repr-Digest: sha-512=3, sha-256=3"], fields: ["Repr-Digest: \(long)"]),
        Row(request: ["Want-Repr-Digest: sha-512=0, sha-256=0"], fields: []),
        Row(request: ["Want-Repr-Digest: md5=10, sha=9, unixsum=1"], fields: []),
        Row(request: ["Want-Repr-Digest: sha-256=11"], fields: []),
        Row(request: ["Want-Repr-Digest: sha-256"], fields: []),
        Row(request: ["Want-Repr-Digest: sha-256=\"10\""], fields: []),
        Row(request: ["Want-Content-Digest: sha-256=1"], fields: ["Content-Digest: \(whole)"]),
        Row(
            request: ["Want-Repr-Digest: sha-256=1", "Want-Content-Digest: sha-256=1"],
            fields: ["Repr-Digest: \(whole)", "Content-Digest: \(whole)"]),
        Row(
            request: [
                "Range: bytes=10-18", "Want-Repr-Digest: sha-256=1",
                "Want-Content-Digest: sha-256=1",
            ], status: 206, fields: ["Repr-Digest: \(whole)", "Content-Digest: \(part)"]),
        Row(
            request: ["Range: bytes=10-18", "Want-Content-Digest: sha-256=1"], status: 206,
            fields: ["Content-Digest: \(part)"]),
        Row(
            request: ["Range: bytes=0-0,2-2", "Want-Repr-Digest: sha-256=1"], status: 206,
            fields: ["Repr-Digest: \(whole)"]),
        Row(
            request: ["Want-Repr-Digest: sha-256=1"], method: "HEAD",
            fields: ["Repr-Digest: \(whole)"]),
        Row(
            request: ["If-None-Match: \"v1\"", "Want-Repr-Digest: sha-256=1"], status: 304,
            fields: []),
        Row(
            request: ["Range: bytes=99-", "Want-Repr-Digest: sha-256=1"], status: 416, fields: []),
        Row(
            request: ["Want-Digest: sha-512;q=0.3, sha-256;q=1, md5"],
            fields: ["Digest: SHA-256=RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="]),
        Row(request: ["Want-Digest: sha-256;q=0"], fields: []),
        Row(request: [], path: "/a?digest=sha-256", fields: ["Repr-Digest: \(whole)"]),
        Row(request: [], path: "/a?digest=sha-512", fields: ["Repr-Digest: \(long)"]),
        Row(request: [], path: "/a?digest=content", fields: ["Content-Digest: \(whole)"]),
        Row(
            request: [], path: "/a?digest=repr,legacy",
            fields: [
                "Repr-Digest: \(whole)",
                "Digest: SHA-256=RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=",
            ]),
        Row(request: [], path: "/a?digest=none", fields: []),
        Row(
            request: [], path: "/a?digest=lie",
            fields: ["Repr-Digest: sha-256=:xK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"]),
        Row(
            request: [], path: "/a?digest=legacy,lie",
            fields: ["Digest: SHA-256=xK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="]),
        Row(
            request: ["Range: bytes=10-18"], path: "/a?digest=part", status: 206,
            fields: ["Repr-Digest: \(part)"]),
        Row(request: [], path: "/a?digest=malformed", fields: ["Repr-Digest: sha-256=:!:"]),
    ])
    func adds(_ row: Row) async throws {
        let response = try await Self.answer(row.request, row.path, row.method)
        #expect(response.status == row.status)
        #expect(Self.digests(response.fields) == row.fields)
        #expect(response.first("Trailer") == nil)
    }

    /// What takes too long to digest before, follows behind: where there are trailers anyway, or
    /// the client asks for them.
    @Test(arguments: [
        (["TE: trailers"], true), (["TE: gzip, Trailers"], true), ([], false),
        (["Accept-Encoding: gzip"], true),
    ])
    func follows(_ asking: [String], _ isKnown: Bool) async throws {
        let digests = ResponseDigests(aheadByteLimit: 18)
        let fields = asking + ["Want-Repr-Digest: sha-256=1"]
        let response = try await Self.answer(fields, digests: digests)
        #expect(Self.digests(response.fields) == [])
        #expect((response.first("Trailer") == "Repr-Digest") == isKnown)
        #expect((response.body.length == nil) == isKnown)
        let source = response.body.source
        let buffer = ByteBuffer(capacity: 5)
        var content: [UInt8] = []
        while try await source.read(into: buffer) > 0 {
            content += buffer.copy
            buffer.consume(buffer.count)
        }
        guard isKnown else { return }
        if response.first("Content-Encoding") == nil {
            #expect(source.trailers == [ResponseField("Repr-Digest", Self.whole)])
            // It is known from now on, to a part as well.
            let again = try await Self.answer(
                ["Want-Repr-Digest: sha-256=1", "Range: bytes=0-1"], digests: digests)
            #expect(Self.digests(again.fields) == ["Repr-Digest: \(Self.whole)"])
        } else {
            // Of the coded bytes.
            let answered = ResponseDigests(aheadByteLimit: 1000)
            let packed = Representation(
                contentType: "a/b", bytes: content,
                validators: Validators(entityTag: nil, lastModified: nil))
            let asked = try request("GET", "/a", [("Want-Repr-Digest", "sha-256=1")])
            let expected = await answered.added(to: packed.response(to: asked), for: asked)
            #expect(source.trailers.map(\.value) == [expected.first("Repr-Digest")])
        }
    }

    /// Another version has another digest, though the path is the same.
    @Test func remembersByVersion() async throws {
        let digests = ResponseDigests(aheadByteLimit: 1000)
        var found: Set<String> = []
        for (tag, text) in [("v1", "one"), ("v2", "two"), ("v1", "one")] {
            let asked = try request("GET", "/a?digest=repr")
            let response = Representation(
                contentType: "text/plain", bytes: [UInt8](text.utf8),
                validators: Validators(entityTag: EntityTag(tag), lastModified: nil)
            ).response(to: asked)
            let digest = await digests.added(to: response, for: asked).first("Repr-Digest")
            found.insert(try #require(digest))
        }
        #expect(found.count == 2)
    }

    private static func answer(
        _ fields: [String], _ path: String = "/a", _ method: String = "GET",
        digests: ResponseDigests = ResponseDigests(aheadByteLimit: 1000)
    ) async throws -> ServerResponse {
        let headers = try fields.map { field in
            let colon = try #require(field.firstIndex(of: ":"))
            return (String(field[..<colon]), String(field[colon...].dropFirst(2)))
        }
        let asked = try request(method, path, headers)
        var representation = Representation(
            contentType: "application/json", bytes: [UInt8](text.utf8),
            validators: Validators(entityTag: EntityTag("v1"), lastModified: nil))
        representation.isCompressed = true
        return await digests.added(to: representation.response(to: asked), for: asked)
    }

    private static func digests(_ fields: [ResponseField]) -> [String] {
        fields.filter { $0.name.hasSuffix("Digest") }.map { "\($0.name): \($0.value)" }
    }
}
