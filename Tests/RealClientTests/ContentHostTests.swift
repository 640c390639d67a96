import Foundation
import Testing

extension RealClientTests {
    /// The flawed and sound TLS hosts of `sallyport content`.
    @Suite(.needs(.curl, .openssl)) struct ContentHostTests {
        private struct List: Decodable {
            struct Host: Decodable {
                let name: String
                let expectation: String

                var label: Substring { name.prefix { $0 != "." } }
            }

            let hosts: [Host]
        }

        /// Its key takes up to half a minute to be made.
        private static let slow = "control-leaf-rsa8192"
        /// Refused by clients before they verify anything: they do not speak it.
        private static let unspoken: Set<Substring> = [
            "crypto-leaf-dsa1024", "crypto-leaf-p192", "crypto-leaf-p224", "crypto-leaf-secp256k1",
        ]

        private func list(_ content: ContentProcess, in folder: Folder) async throws -> [List.Host]
        {
            let listed = try await Program.run(.curl, ["-sS", "\(content.url)/hosts"], in: folder)
            return try JSONDecoder().decode(List.self, from: listed).hosts.filter {
                $0.label != Self.slow
            }
        }

        /// - Returns: how curl ended, and the status that it was answered with.
        private func fetch(
            _ path: String, from host: String, _ options: [String], _ content: ContentProcess,
            in folder: Folder
        ) async throws -> (code: Int32, text: String) {
            let program = try Program(
                .curl,
                [
                    "-sS", "--max-time", "20", "--resolve",
                    "\(host):\(content.securePort):127.0.0.1",
                    "https://\(host):\(content.securePort)\(path)",
                ] + options, in: folder)
            let code = try await program.end()
            return (code, String(decoding: program.output, as: UTF8.self))
        }

        /// Two libraries' clients judge every host as the catalogue says that a client must, and what
        /// is refused is a server like any other to a client that does not look.
        @Test func areJudgedAsTheCatalogueSays() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let hosts = try await list(content, in: folder)
            #expect(hosts.count(where: { $0.expectation == "refuse" }) > 70)
            #expect(hosts.count(where: { $0.expectation == "accept" }) > 15)
            var served = 0
            for host in hosts where ["accept", "refuse"].contains(host.expectation) {
                let expected = host.expectation == "accept"
                let answer = try await fetch(
                    "/assets/1/64/sha256", from: host.name, ["--cacert", content.authorityPath],
                    content, in: folder)
                let demands = host.label == "client-certificate-required"
                #expect((answer.code == 0) == expected, "\(host.name): \(answer)")
                let program = try Program(
                    .openssl,
                    [
                        "s_client", "-brief", "-verify_return_error", "-CAfile",
                        content.authorityPath, "-verify_hostname", host.name, "-servername",
                        host.name, "-connect", "127.0.0.1:\(content.securePort)",
                    ], in: folder, input: FileHandle.nullDevice)
                #expect((try await program.end() == 0) == expected, "\(program.story)")
                let careless = try await fetch(
                    "/assets/1/64/sha256", from: host.name, ["-k"], content, in: folder)
                if careless.text.count == 65 { served += 1 }
                if expected, !demands { #expect(answer.text.count == 65, "\(host.name)") }
            }
            #expect(served > 80, "\(served)")
            try await content.end()
        }

        /// What clients differ about is served or refused, and always ends.
        @Test func endWhateverAClientMakesOfThem() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let hosts = try await list(content, in: folder)
            for host in hosts where !["accept", "refuse"].contains(host.expectation) {
                let answer = try await fetch("/", from: host.name, ["-k"], content, in: folder)
                #expect(
                    answer.code == 0 || Self.unspoken.contains(host.label) || answer.code == 35,
                    "\(host.name): \(answer)")
            }
            // A flaw of addresses alone is none of a name's.
            for name in ["name-ip-wrong.sallyport.test", "name-wildcard-in-alabel.sallyport.test"] {
                let answer = try await fetch("/", from: name, ["-k"], content, in: folder)
                #expect(answer.code == 35, "\(name): \(answer)")
            }
            try await content.end()
        }

        /// A certificate that the server issues lets in where one is demanded.
        @Test func takeClientCertificates() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let path = folder.path("client.pem")
            try await Program.run(
                .curl, ["-sS", "-o", path, "\(content.url)/.sallyport/client.pem"], in: folder)
            let trusting = ["--cacert", content.authorityPath]
            let rows: [(label: String, options: [String], status: String)] = [
                ("client-certificate", [], "200 {\"shown\":false,\"verified\":false}"),
                ("client-certificate", ["--cert", path], "200 {\"shown\":true,\"verified\":true}"),
                ("client-certificate-required", [], "403 {\"error\":\"no client certificate"),
                (
                    "client-certificate-required", ["--cert", path],
                    "200 {\"shown\":true,\"verified\":true}"
                ),
            ]
            for row in rows {
                let answer = try await fetch(
                    "/client-certificate", from: "\(row.label).sallyport.localhost",
                    trusting + row.options + ["-w", "%{stderr}%{http_code}", "-i"], content,
                    in: folder)
                let (status, body) = (row.status.prefix(3), row.status.dropFirst(4))
                #expect(answer.text.contains(" \(status)"), "\(row): \(answer)")
                #expect(answer.text.contains(body), "\(row): \(answer)")
            }
            try await content.end()
        }

        /// Through the proxy beside it, names of the zone lead here.
        @Test func areFoundThroughTheProxy() async throws {
            let folder = try Folder()
            let proxy = try await ContentProxyProcess(in: folder)
            let sound = try await Program.run(
                .curl,
                [
                    "-sS", "--proxy", proxy.proxyURL, "--cacert", proxy.authorityPath,
                    "https://assets.sallyport.test/assets/1/64/sha256",
                    "http://assets.sallyport.test/assets/1/64/sha256",
                ], in: folder)
            #expect(sound.count == 130)
            let flawed = try await Program.run(
                .curl,
                [
                    "-sS", "--proxy", proxy.proxyURL, "--cacert", proxy.authorityPath, "-o", "page",
                    "-w", "%{http_code}", "https://expired.sallyport.test/",
                ], in: folder)
            #expect(flawed == Data("502".utf8))
            try await proxy.end()
        }
    }
}
