import Base
import Glibc
import Origins
import Testing

@testable import Transfer

struct CredentialFilesTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var url = "https://example.org/"
        var schemes = ["digest", "basic"]
        var content = "user:password\nmore\n"
        var mode: UInt32 = 0o600
        var refused: String?
        var value: String? = "Basic dXNlcjpwYXNzd29yZA=="

        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "the first line"),
        Row(name: "another line end", content: "user:password\r\n"),
        Row(name: "no line end", content: "user:password"),
        Row(name: "this machine", url: "http://127.0.0.1:8081/"),
        Row(name: "another scheme", schemes: ["negotiate"], value: nil),
        Row(name: "no password", content: "user\n", value: nil),
        Row(name: "nothing", content: "", value: nil),
        Row(name: "readable by others", mode: 0o644, value: nil),
        Row(name: "refused", refused: "Basic dXNlcjpwYXNzd29yZA==", value: nil),
    ])
    func areRead(_ row: Row) async throws {
        let folder = try TransferFolder()
        let path = folder.path + "/login"
        try Files.create(path, [UInt8](row.content.utf8))
        #expect(unsafe chmod(path, row.mode) == 0)
        let value = await CredentialFiles().authorization(
            for: path, at: try OriginLocation(row.url), schemes: row.schemes,
            refused: row.refused)
        #expect(value == row.value)
    }

    @Test func whatIsNotThereIsNone() async throws {
        let value = await CredentialFiles().authorization(
            for: "/nowhere", at: try OriginLocation("https://example.org/"), schemes: ["basic"],
            refused: nil)
        #expect(value == nil)
    }
}
