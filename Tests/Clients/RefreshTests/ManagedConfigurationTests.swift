import Base
import HTTPClient
import HTTPModel
import Origins
import Testing

@testable import Refresh

struct ManagedConfigurationTests {
    private struct Row: Sendable {
        let text: String
        var server = "a.example"
        var interval: RefreshInterval?
        var feeds: [String]?
        var allowsCellular: Bool?
        var ignored = 0
        var wrong = 0
    }

    private static let rows: [Row] = [
        Row(text: "{}"),
        Row(text: #"{"interval":"never"}"#, interval: .never),
        Row(
            text: #"{"interval":600,"allowsCellular":false}"#, interval: .seconds(600),
            allowsCellular: false),
        Row(text: #"{"interval":"600"}"#, interval: .seconds(600)),
        Row(text: #"{"interval":-1}"#, wrong: 1), Row(text: #"{"interval":1.5}"#, wrong: 1),
        Row(text: #"{"interval":null}"#, wrong: 1), Row(text: #"{"interval":[600]}"#, wrong: 1),
        Row(text: #"{"interval":99999999999}"#, wrong: 1),
        Row(text: #"{"feeds":["https://a.example/f"]}"#, feeds: ["https://a.example/f"]),
        Row(text: #"{"feeds":[]}"#, wrong: 1),
        Row(text: #"{"feeds":"https://a.example"}"#, wrong: 1),
        Row(text: #"{"feeds":["https://a.example/f","ftp://a.example"]}"#, wrong: 1),
        Row(text: #"{"feeds":["https://a.example/f",7]}"#, wrong: 1),
        Row(text: #"{"allowsCellular":"yes"}"#, wrong: 1),
        Row(text: #"{"allowsCellular":1}"#, wrong: 1),
        Row(
            text: #"{"colour":"red","interval":"minimum","size":{"a":1}}"#, interval: .minimum,
            ignored: 2),
        // No stranger names what an app fetches on its own machine or network.
        Row(text: #"{"feeds":["http://127.0.0.1:8080/f"]}"#, wrong: 1),
        Row(text: #"{"feeds":["https://a.example/f","http://localhost/f"]}"#, wrong: 1),
        Row(text: #"{"feeds":["http://192.168.1.1/f"]}"#, wrong: 1),
        Row(text: #"{"feeds":["http://[::1]/f"]}"#, wrong: 1),
        Row(text: #"{"feeds":["http://router/f"]}"#, wrong: 1),
        Row(text: #"{"feeds":["http://2130706433/f"]}"#, wrong: 1),
        Row(text: #"{"feeds":["http://127.0.0.1/f"]}"#, server: "nas.local", wrong: 1),
        Row(
            text: #"{"feeds":["http://127.0.0.1:8080/f"]}"#, server: "localhost",
            feeds: ["http://127.0.0.1:8080/f"]),
        Row(
            text: #"{"feeds":["http://192.168.1.1/f"]}"#, server: "nas.local",
            feeds: ["http://192.168.1.1/f"]),
        // Part of a name is no secret.
        Row(text: #"{"compass":"north"}"#, ignored: 1),
    ]

    @Test(arguments: rows.indices)
    func reads(_ index: Int) throws {
        let row = Self.rows[index]
        let read = try ManagedConfiguration([UInt8](row.text.utf8), from: row.server)
        #expect(read.interval == row.interval, "\(row.text)")
        #expect(read.feeds == row.feeds, "\(row.text)")
        #expect(read.allowsCellular == row.allowsCellular, "\(row.text)")
        #expect(read.ignoredCount == row.ignored, "\(row.text)")
        #expect(read.wrongCount == row.wrong, "\(row.text)")
    }

    @Test(arguments: [
        ("[]", "managed-invalid"), ("", "managed-invalid"), ("interval", "managed-invalid"),
        (#"{"password":"x"}"#, "managed-secret"), (#"{"api_key":7}"#, "managed-secret"),
        (#"{"server":{"credentials":[{"accessToken":""}]}}"#, "managed-secret"),
    ])
    func refuses(_ text: String, _ code: String) {
        do throws(Failure) {
            _ = try ManagedConfiguration([UInt8](text.utf8), from: "a.example")
            Issue.record("\(text) was read")
        } catch {
            #expect(error.code == code)
        }
    }

    /// No bytes do harm: each is read or refused.
    @Test func survivesAnything() {
        let text = [UInt8](
            #"{"interval":600,"feeds":["https://a.example/f"],"allowsCellular":true}"#.utf8)
        var (read, refused) = (0, 0)
        for index in text.indices {
            for byte in [0x00, 0x22, 0x30, 0x5B, 0x7B, 0x7D, 0xFF] as [UInt8] {
                var bytes = text
                bytes[index] = byte
                do throws(Failure) {
                    let configuration = try ManagedConfiguration(bytes, from: "a.example")
                    #expect(configuration.ignoredCount + configuration.wrongCount <= 4)
                    read += 1
                } catch {
                    refused += 1
                }
            }
        }
        #expect(read > 0 && refused > 0)
    }

    // MARK: With a server

    /// Read once, and again when it has changed; counts are told as sums, and once.
    @Test func readsAndTells() async throws {
        let told = try await withLaboratory { laboratory in
            let managed = try ManagedClient(
                laboratory.client, server: laboratory.origin, app: "news")
            #expect(
                try await managed.read()
                    == ManagedConfiguration([UInt8]("{}".utf8), from: "127.0.0.1"))
            try await laboratory.configure("news", #"{"interval":600,"colour":"red","feeds":7}"#)
            #expect(try await managed.read()?.interval == .seconds(600))
            #expect(try await managed.read() == nil)
            try await laboratory.configure("news", #"{"interval":"never"}"#)
            #expect(try await managed.read()?.interval == .never)
            managed.count(.wakes, 2)
            managed.count(.failed)
            try await managed.tell()
            try await managed.tell()
            managed.count(.wakes)
            try await managed.tell()
            return try await laboratory.control("/managed/news/feedback")
        }
        #expect(told == #"{"failed":1,"ignoredKeys":1,"wakes":3,"wrongValues":1}"# + "\n")
    }

    @Test func keepsWhatCouldNotBeTold() async throws {
        let told = try await withLaboratory { laboratory in
            let managed = try ManagedClient(
                laboratory.client, server: "http://127.0.0.1:1", app: "news")
            managed.count(.wakes)
            await #expect(throws: Failure.self) { try await managed.tell() }
            await #expect(throws: Failure.self) { _ = try await managed.read() }
            return true
        }
        #expect(told)
    }
}

extension RefreshLaboratory {
    fileprivate func configure(_ app: String, _ text: String) async throws {
        let location = try OriginLocation("\(origin)/managed/\(app)/configuration")
        let head =
            "PUT \(location.path) HTTP/1.1\r\nHost: \(location.target.authority)\r\n"
            + "Content-Length: \(text.utf8.count)\r\n\r\n"
        let response = try await client.send(
            ClientRequest(
                target: location.target, method: .other, isSafe: false, head: [UInt8](head.utf8),
                content: .bytes([UInt8](text.utf8)), isChunked: false))
        #expect(response.head.status == 204)
    }
}
