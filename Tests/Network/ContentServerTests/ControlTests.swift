import Base
import ContentServer
import HTTPModel
import HTTPServer
import Testing

/// What this machine alone may ask.
struct ControlTests {
    private let server = ContentServer(ContentServerConfiguration())

    private func ask(
        _ method: String, _ path: String, _ content: String = "",
        _ fields: [(String, String)] = [], from peer: String = "127.0.0.1"
    ) async throws -> ServerResponse {
        await server.answer(
            try request(method, path, fields, host: "localhost", from: peer),
            RequestBody([UInt8](content.utf8)))
    }

    /// A page in a browser gets nothing, wherever it has come from; who types the address does.
    @Test(
        arguments: ["/.sallyport/journal", "/push/key", "/push/devices", "/push/token"],
        [
            ([], 200), ([("Sec-Fetch-Site", "none")], 200),
            ([("Sec-Fetch-Site", "cross-site")], 403), ([("Sec-Fetch-Site", "same-site")], 403),
            ([("Sec-Fetch-Site", "same-origin")], 403), ([("Sec-Fetch-Site", "")], 403),
            ([("Origin", "null")], 403),
        ])
    func isNoPages(_ path: String, _ row: (fields: [(String, String)], status: Int)) async throws {
        let response = try await ask("GET", path, "", row.fields)
        #expect(response.status == row.status)
    }

    /// What somebody in between has connected for may come from anywhere.
    @Test func isNothingThatWasRelayed() async throws {
        let response = try await ask("GET", "/push/key", from: "relayed")
        #expect(response.status == 403)
    }

    /// What a request makes up is no page of this server's.
    @Test func reflectsNoPage() async throws {
        let response = try await ask("GET", "/base64/PHNjcmlwdD4=")
        #expect(response.first("Content-Security-Policy") == "sandbox")
    }

    /// What is refused takes nobody's place.
    @Test func keepsNoAppOfWhatIsRefused() async throws {
        for number in 0..<300 {
            let refused = try await ask("POST", "/managed/x\(number)/feedback", "[]")
            #expect(refused.status == 400)
        }
        let set = try await ask("PUT", "/managed/mine/configuration", "{}")
        #expect(set.status == 204)
    }
}
