import Foundation
import Testing

extension RealClientTests {
    /// Profiles of `sallyport content`, as others read them.
    struct ContentProfileTests {
        private static let query = "ca=1&pac=http://localhost/pac/good&relay=https://relay.test/"

        /// OpenSSL takes the signature for good by the server's CA, and finds the same profile in it;
        /// Python reads that.
        @Test(.needs(.curl, .python)) func signsProfiles() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let place = "\(content.url)/profiles/test.mobileconfig?\(Self.query)"
            let plain = folder.path("plain")
            let head = try await Self.curl(["-D", "-", "-o", plain, place], in: folder)
            #expect(
                head.contains("Content-Type: application/x-apple-aspen-config"), "\(head)")
            let signed = folder.path("signed")
            _ = try await Self.curl(["-o", signed, "\(place)&sign=1"], in: folder)
            let authority = ["-CAfile", content.authorityPath, "-purpose", "any"]
            for command in ["cms", "smime"] {
                let found = try await Program.run(
                    .openssl,
                    [command, "-verify", "-inform", "DER", "-in", signed] + authority, in: folder)
                #expect(found == FileManager.default.contents(atPath: plain))
            }
            let script = """
                import plistlib, sys
                profile = plistlib.load(open(sys.argv[1], "rb"))
                print(profile["PayloadType"], *sorted(p["PayloadType"] for p in profile["PayloadContent"]))
                open(sys.argv[2], "wb").write(profile["PayloadContent"][0]["PayloadContent"])
                """
            let read = try await Program.run(
                .python, ["-c", script, plain, folder.path("ca.der")], in: folder)
            #expect(
                String(decoding: read, as: UTF8.self)
                    == "Configuration com.apple.proxy.http.global com.apple.relay.managed "
                    + "com.apple.security.root\n")
            let same = try await Program.run(
                .openssl, ["x509", "-inform", "DER", "-in", folder.path("ca.der")], in: folder)
            #expect(same == FileManager.default.contents(atPath: content.authorityPath))

            let lint = ["-H", "Content-Type:", "\(content.url)/profiles/lint"]
            let sound = try await Self.curl(["--data-binary", "@\(signed)"] + lint, in: folder)
            #expect(sound.contains(#""signed":true,"valid":true,"findings":[]"#), "\(sound)")
            var bytes = try #require(FileManager.default.contents(atPath: signed))
            let spot = try #require(bytes.range(of: Data("relay.test".utf8)))
            bytes[spot.lowerBound] ^= 1
            let changed = try folder.write("changed", bytes)
            let broken = try await Self.curl(["--data-binary", "@\(changed)"] + lint, in: folder)
            #expect(broken.contains("not-a-property-list"), "\(broken)")
            try await content.end()
        }

        private static func curl(_ arguments: [String], in folder: Folder) async throws -> String {
            String(
                decoding: try await Program.run(.curl, ["-sSf"] + arguments, in: folder),
                as: UTF8.self)
        }
    }
}
