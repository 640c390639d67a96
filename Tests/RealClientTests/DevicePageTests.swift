import Foundation
import Testing

extension RealClientTests {
    /// The page that devices are set up from, as a browser and the tools of devices take it.
    struct DevicePageTests {
        private struct Report: Decodable {
            let sizes: [Size]
            /// How many steps of setting up the page takes for done, by TLS.
            let done: Int
            let problems: [String]
            let links: [Link]
            let profile: String
            let payload: String
            let holdsTheCertificate: Bool

            struct Size: Decodable {
                let viewport: Int
                let content: Int
                /// Of the links, as high as they are, in CSS pixels.
                let smallest: Double
                let text: Double
            }

            struct Link: Decodable {
                let path: String
                let status: Int
            }
        }

        /// In both orientations, opened on a listener that has a QR code to show, without the
        /// password that everything else needs.
        @Test(.needs(.chromium, .certutil, .python, .openssl, .keytool))
        func isReadInABrowser() async throws {
            let folder = try Folder()
            let login = try folder.write("login", "jane:s3cret\n")
            let proxy = try await ProxyProcess(
                trusting: try await TestAuthority(in: folder), reverse: nil, in: folder,
                ["--mode", "explicit@0.0.0.0:0", "--proxy-auth", login])
            try await folder.trust(proxy.authorityPath)
            let port = try #require(proxy.address.split(separator: ":").last)
            let place = "127.0.0.1:\(port)"
            let output = try await Program.run(
                .python,
                [Peer.script("device-page.py"), place, try #require(Peer.chromium.path)]
                    + BrowserTests.options("http://\(place)", folder), in: folder,
                within: .seconds(110))
            let report = try JSONDecoder().decode(Report.self, from: output)
            for size in report.sizes {
                #expect(size.content <= size.viewport, "it is wider than \(size.viewport)")
                #expect(size.smallest >= 24 && size.text >= 16, "\(size)")
            }
            #expect(report.sizes.count == 6)
            #expect(report.done == 3, "it came by TLS, and the browser trusts the CA")
            #expect(report.problems == [])
            #expect(report.links.map(\.status) == Array(repeating: 200, count: 5))
            #expect(report.profile == "Configuration")
            #expect(report.payload == "com.apple.security.root")
            #expect(report.holdsTheCertificate)
            try await proxy.end()
            try await Self.expectForms(in: folder, of: proxy.authorityPath)
        }

        /// Every form holds the CA's certificate.
        private static func expectForms(in folder: Folder, of authority: String) async throws {
            func fingerprint(_ file: String, _ form: String) async throws -> String {
                String(
                    decoding: try await Program.run(
                        .openssl,
                        [
                            "x509", "-in", file, "-inform", form, "-noout", "-fingerprint",
                            "-sha256",
                        ], in: folder), as: UTF8.self)
            }
            let expected = try await fingerprint(authority, "pem")
            #expect(try await fingerprint("sallyport.pem", "pem") == expected)
            #expect(try await fingerprint("sallyport.cer", "der") == expected)
            #expect(try await fingerprint("sallyport.crt", "der") == expected)
            let digest = try #require(expected.split(separator: "=").last)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let store = String(
                decoding: try await Program.run(
                    .keytool,
                    ["-list", "-keystore", "sallyport.jks", "-storepass", "changeit"], in: folder),
                as: UTF8.self)
            #expect(store.contains("trustedCertEntry") && store.contains(digest), "\(store)")
            // What was served holds no key.
            for name in ["pem", "cer", "crt", "mobileconfig", "jks"] {
                let file = URL(fileURLWithPath: folder.path("sallyport.\(name)"))
                let content = try Data(contentsOf: file)
                #expect(content.range(of: Data("PRIVATE".utf8)) == nil)
            }
        }
    }
}
