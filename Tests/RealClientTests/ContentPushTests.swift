import Foundation
import Testing

extension RealClientTests {
    /// The push service of `sallyport content`, as providers and devices use it.
    struct ContentPushTests {
        private static let topic = "com.example.news"

        private struct Job: Encodable {
            var token: String
            var message = ["aps": ["content-available": 1]]
            var priority: Int? = 5
            var type: String? = "background"
            var collapse: String?
            var topic: String?
            var key: String?
            var team: String?
        }

        /// A library that is in use for the real service is told by ours what it would be told by
        /// that: success, and each reason.
        @Test(.needs(.curl, .aioapns)) func aioapnsGetsEachReason() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let token = try await Self.register("phone", content, in: folder)
            let gone = try await Self.register("gone", content, in: folder)
            try await Self.control(
                ["-X", "DELETE", "/push/devices/\(gone)?at=1700000000"], content, in: folder)
            let key = try await Self.control(["/push/key"], content, in: folder)
            let plain = Job(token: token)
            var rows: [(job: Job, line: String)] = [(plain, "200 - -")]
            func row(_ line: String, _ change: (inout Job) -> Void) {
                var job = plain
                change(&job)
                rows.append((job, line))
            }
            row("410 Unregistered 1700000000000") { $0.token = gone }
            row("400 BadDeviceToken -") { $0.token = String(repeating: "0", count: 64) }
            row("400 DeviceTokenNotForTopic -") { $0.topic = "com.example.other" }
            row("400 BadPriority -") { $0.priority = 10 }
            row("400 BadTopic -") { $0.type = "voip" }
            row("400 BadCollapseId -") { $0.collapse = String(repeating: "x", count: 65) }
            row("403 InvalidProviderToken -") { $0.team = "ANOTHERONE" }
            row("403 InvalidProviderToken -") { $0.key = "ANOTHERKEY" }
            row("413 PayloadTooLarge -") {
                $0.message = ["aps": [String(repeating: "x", count: 4096): 1]]
            }
            let ordered = [
                "400 BadExpirationDate", "400 DuplicateHeaders", "400 IdleTimeout",
                "400 InvalidPushType", "400 MissingDeviceToken", "400 MissingTopic",
                "400 PayloadEmpty", "400 TopicDisallowed", "403 BadCertificate",
                "403 BadCertificateEnvironment", "403 BadEnvironmentKeyIdInToken",
                "403 ExpiredProviderToken", "403 Forbidden", "403 MissingProviderToken",
                "403 UnrelatedKeyIdInToken", "405 MethodNotAllowed", "429 TooManyRequests",
                "429 TooManyProviderTokenUpdates", "500 InternalServerError",
                "503 ServiceUnavailable", "503 Shutdown",
            ]
            let jobs = rows.map(\.job) + ordered.map { _ in plain }
            for line in ordered {
                let reason = line.split(separator: " ")[1]
                try await Self.control(
                    ["-d", "reason=\(reason)", "/push/answers"], content, in: folder)
            }
            // Ordered answers come first: those of the rows are sent to a service of their own.
            let said = try await Self.send(
                Array(jobs.suffix(ordered.count)), key, content, in: folder)
            #expect(said == ordered.map { "\($0) -" })
            #expect(
                try await Self.send(rows.map(\.job), key, content, in: folder) == rows.map(\.line))
            try await content.end()
        }

        private static func send(
            _ jobs: [Job], _ key: Data, _ content: ContentProcess, in folder: Folder
        ) async throws -> [String] {
            let path = try folder.write("jobs.json", try JSONEncoder().encode(jobs))
            let said = try await Program.run(
                .python,
                [
                    Peer.script("with-aioapns.py"), String(content.securePort),
                    content.authorityPath, try folder.write("key.pem", key), "SALLYPORT1",
                    "SALLYTEAM1", topic, path,
                ], in: folder)
            return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        /// A device listens over HTTP/1.1 or HTTP/2; silent pushes beyond the limit wait, and come
        /// with an alert to another app; each comes once.
        @Test(.needs(.curl), arguments: ["--http1.1", "--http2"])
        func deliversToDevices(_ version: String) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let news = try await Self.register("phone", content, in: folder)
            let mail = try await Self.register(
                "phone", topic: "com.example.mail", content, in: folder)
            let device = try Program(
                .curl,
                [
                    "-sSN", version, "--cacert", content.authorityPath, "--max-time", "50",
                    "\(content.secureURL)/push/devices/\(news)/events?limit=4&acknowledge=auto",
                ], in: folder)
            _ = try await eventually("the first line") {
                String(decoding: device.output, as: UTF8.self).hasPrefix(": phone\n\n")
                    ? true : nil
            }
            for name in ["a", "b", "c", "d"] {
                #expect(
                    try await Self.push(
                        name, to: news, ["apns-push-type: background"], content, in: folder)
                        == "200")
            }
            #expect(
                try await Self.push(
                    "e", to: mail, ["apns-push-type: alert"], topic: "com.example.mail", content,
                    in: folder) == "200")
            #expect(try await device.end() == 0, "\(device.story)")
            let events = String(decoding: device.output, as: UTF8.self)
                .components(separatedBy: "\n").filter { $0.hasPrefix("data: ") }
            #expect(events.count == 4)
            for (event, name) in zip(events, ["a", "b", "e", "d"]) {
                #expect(event.contains("\"name\":\"\(name)\""), "\(event)")
                #expect(event.contains("\"piggybacked\":\(name == "d")"), "\(event)")
            }
            // What came is acknowledged, and does not come again.
            let again = try await Self.control(
                ["/push/devices/\(news)/events?limit=0"], content, in: folder)
            #expect(String(decoding: again, as: UTF8.self) == ": phone\n\n")
            let list = String(
                decoding: try await Self.control(["/push/notifications"], content, in: folder),
                as: UTF8.self)
            #expect(list.components(separatedBy: "\"acknowledged\"").count == 5)
            #expect(list.components(separatedBy: "\"replaced\"").count == 2)
            try await content.end()
        }

        /// A device that leaves without a word waits again.
        @Test(.needs(.curl), arguments: ["--http1.1", "--http2"])
        func noticesThatADeviceLeaves(_ version: String) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let token = try await Self.register("phone", content, in: folder)
            func isListening() async throws -> Bool {
                String(
                    decoding: try await Self.control(
                        ["/push/devices/\(token)"], content, in: folder), as: UTF8.self
                ).contains("\"listening\":true")
            }
            let device = try Program(
                .curl,
                [
                    "-sSN", version, "--cacert", content.authorityPath,
                    "\(content.secureURL)/push/devices/\(token)/events",
                ], in: folder)
            _ = try await eventually("a device") { try await isListening() ? true : nil }
            device.send(SIGKILL)
            _ = try await eventually("its end") { try await isListening() ? nil : true }
            try await content.end()
        }

        // MARK: What a test does

        @discardableResult
        private static func control(
            _ arguments: [String], _ content: ContentProcess, in folder: Folder
        ) async throws -> Data {
            try await Program.run(
                .curl,
                ["-sSf"] + arguments.map { $0.hasPrefix("/push/") ? content.url + $0 : $0 },
                in: folder)
        }

        private static func register(
            _ device: String, topic: String = topic, _ content: ContentProcess, in folder: Folder
        ) async throws -> String {
            let form = "device=\(device)&topic=\(topic)&format=text"
            let text = try await control(["-d", form, "/push/devices"], content, in: folder)
            return String(decoding: text.dropLast(), as: UTF8.self)
        }

        private static func push(
            _ name: String, to token: String, _ fields: [String], topic: String = topic,
            _ content: ContentProcess, in folder: Folder
        ) async throws -> String {
            let bearer = String(
                decoding: try await control(["/push/token"], content, in: folder), as: UTF8.self
            ).dropLast()
            let aps = fields[0].hasSuffix("alert") ? "\"alert\":\"x\"" : "\"content-available\":1"
            let said = try await Program.run(
                .curl,
                [
                    "-sS", "--http2", "--cacert", content.authorityPath, "-w", "%{http_code}",
                    "-H", "authorization: bearer \(bearer)", "-H", "apns-topic: \(topic)",
                    "-d", "{\"aps\":{\(aps)},\"name\":\"\(name)\"}",
                    "\(content.secureURL)/3/device/\(token)",
                ] + fields.flatMap { ["-H", $0] }, in: folder)
            return String(decoding: said, as: UTF8.self)
        }
    }
}
