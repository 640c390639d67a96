import Foundation
import Testing

extension RealClientTests {
    /// A proxy that reads the files of its options again while clients are there.
    struct PolicyRenewalTests {
        private struct Ready: Decodable {
            let listen: String
            let ca: String
            let capture: String
        }

        @Test(.needs(.curl, .openssl, .nginx))
        func servesByWhatTheFilesSayThen() async throws {
            let folder = try Folder()
            let origin = try await Origin()
            let other = try await TestAuthority(in: folder)
            let right = try Data(contentsOf: URL(fileURLWithPath: origin.authority.certificatePath))
            let wrong = try Data(contentsOf: URL(fileURLWithPath: other.certificatePath))
            let trusted = try folder.write("trusted.pem", wrong)
            let proxy = try Program(
                .sallyport,
                [
                    "proxy", "--listen", "127.0.0.1:0", "--capture", folder.path("a.sallyport"),
                    "--json", "--origin-ca", trusted,
                ], in: folder)
            let ready = try await proxy.ready(as: Ready.self)
            func status() async throws -> String {
                let output = try await Program.run(
                    .curl,
                    [
                        "-sS", "--proxy", "http://\(ready.listen)", "--cacert", ready.ca, "-o",
                        "answer", "-w", "%{http_code}", origin.url + "/byte.bin",
                    ], in: folder)
                return String(decoding: output, as: UTF8.self)
            }
            var lineCount = 0
            func renew(_ content: Data, expecting words: String) async throws {
                try folder.write("trusted.pem", content)
                proxy.send(SIGUSR1)
                lineCount += 1
                let line = try await eventually("a line about it") { () -> String? in
                    let lines = String(decoding: proxy.errors, as: UTF8.self).split(separator: "\n")
                    return lines.count == lineCount ? String(lines[lineCount - 1]) : nil
                }
                #expect(line.contains(words), "\(line)")
            }
            #expect(try await status() == "502")
            try await renew(right, expecting: "served by policy 1")
            #expect(try await status() == "200")
            try await renew(Data("no certificate".utf8), expecting: "the policy stays as it was")
            #expect(try await status() == "200")
            try await renew(wrong, expecting: "served by policy 2")
            #expect(try await status() == "502")
            proxy.send(SIGTERM)
            #expect(try await proxy.end() == 0)
            let rows = try await Program.run(
                .sallyport, ["connections", ready.capture, "--json"], in: folder)
            let policies = String(decoding: rows, as: UTF8.self).split(separator: "\n").map {
                $0.firstMatch(of: #/"policy":(\d+)/#).map { String($0.1) } ?? "none"
            }
            #expect(policies == ["0", "1", "1", "2"])
        }

        /// However many renewals are asked for, and whatever they wait for, an end is an end.
        @Test(arguments: [true, false])
        func endsBehindRenewals(waitForAFile: Bool) async throws {
            let folder = try Folder()
            let file = folder.path("trusted.pem")
            let authority = try await TestAuthority(in: folder)
            try FileManager.default.copyItem(atPath: authority.certificatePath, toPath: file)
            let proxy = try Program(
                .sallyport,
                [
                    "proxy", "--listen", "127.0.0.1:0", "--capture", folder.path("a.sallyport"),
                    "--json", "--origin-ca", file,
                ], in: folder)
            _ = try await proxy.ready(as: Ready.self)
            if waitForAFile {
                try FileManager.default.removeItem(atPath: file)
                try #require(unsafe mkfifo(file, 0o600) == 0)
            }
            for _ in 0..<20_000 { proxy.send(SIGUSR1) }
            proxy.send(SIGTERM)
            #expect(try await proxy.end() == 0)
            let lines = proxy.errors.split(separator: UInt8(ascii: "\n")).count
            // One reading for all that have come meanwhile; and what it ends with.
            #expect(waitForAFile ? lines <= 2 : lines < 20_000)
        }
    }
}
