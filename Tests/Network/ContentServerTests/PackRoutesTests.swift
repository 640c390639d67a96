import Base
import ContentServer
import Contents
import HTTPServer
import TLS
import Testing

struct PackRoutesTests {
    private static let server = ContentServer(ContentServerConfiguration())

    private static func answer(
        _ path: String, _ headers: [(String, String)] = []
    ) async throws -> ServerResponse {
        await server.answer(try request("GET", path, headers), RequestBody([]))
    }

    /// An asset as the manifest names it.
    private struct Named {
        let name: String
        let url: String
        let type: String
        let size: UInt64
        let digest: String
        let policy: String
        /// Whether the system may throw it away, and whether it is a part of backups.
        let isPurgeable: String
        let isBackedUp: String
    }

    private static func manifest(_ path: String) async throws -> [Named] {
        let response = try await answer(path)
        try #require(response.status == 200)
        let document = try #require(JSONDocument(try await response.content()))
        let text = { (name: StaticString, place: Int) -> String in
            let value = try #require(document.member(name, of: place))
            return document.spelling(of: value).filter { $0 != UInt8(ascii: "\"") }.text
        }
        let assets = try #require(document.member("assets", of: JSONDocument.root))
        let storage = { (asset: Int) -> Int in
            try #require(document.member("storage", of: asset))
        }
        return try document.elements(of: assets).map {
            Named(
                name: try text("name", $0), url: try text("url", $0), type: try text("type", $0),
                size: try #require(UInt64(try text("bytes", $0))),
                digest: try text("sha256", $0), policy: try text("policy", $0),
                isPurgeable: try text("purgeable", try storage($0)),
                isBackedUp: try text("backup", try storage($0)))
        }
    }

    @Test(arguments: [1, 7, 5000])
    func namesWhatItServes(room: Int) async throws {
        let assets = try await Self.manifest("/packs/7/manifest.json")
        #expect(assets.count == 45)
        #expect(Set(assets.map(\.policy)) == ["essential", "prefetch", "on-demand"])
        for asset in assets {
            #expect(asset.isBackedUp == "false")
            #expect(asset.isPurgeable == (asset.policy == "essential" ? "false" : "true"))
        }
        for asset in assets where room > 100 || asset.name.hasPrefix("level-1/story") {
            let response = try await Self.answer(asset.url)
            #expect(response.status == 200)
            #expect(response.first("Content-Type") == asset.type)
            #expect(response.body.length == asset.size)
            let content = try await response.content(room: room)
            #expect(UInt64(content.count) == asset.size)
            #expect(Digests.sha256(content).hex == asset.digest, "\(asset.name)")
        }
    }

    /// Any part is what the whole has there.
    @Test(arguments: ["level-1/story.en.json", "level-2/theme.m4a", "level-3/map.phone@2x.jpg"])
    func hasRandomAccess(_ name: String) async throws {
        let path = "/packs/9/\(name)"
        let whole = try await Self.answer(path).content()
        for start in [0, 1, 23, 24, 40, 63, 64, 65, 126, 1000, whole.count - 5, whole.count - 1] {
            for end in [start, start + 1, start + 61, start + 200] {
                let part = try await Self.answer(path, [("Range", "bytes=\(start)-\(end)")])
                #expect(
                    try await part.content(room: 50)
                        == [UInt8](whole[start...].prefix(end - start + 1)))
            }
        }
    }

    @Test func textIsJSON() async throws {
        let text = try await Self.answer("/packs/1/level-1/story.de.json").content()
        let document = try #require(JSONDocument(text))
        #expect(document.elements(of: JSONDocument.root).count == 401)
    }

    @Test func picturesHaveTheirSize() async throws {
        for (name, side) in [("phone@2x", 256), ("phone@3x", 384), ("tablet@2x", 512)] {
            let bytes = try await Self.answer("/packs/1/level-2/map.\(name).jpg").content()
            let size = try #require(ImageSize(bytes))
            #expect(size.width == side && size.height == side)
        }
        let lean = try await Self.answer("/packs/1/level-2/map.tablet@2x.jpg?defects=media")
        let size = try #require(ImageSize(try await lean.content()))
        #expect(size.width == 128)
        #expect(try #require(lean.body.length) > 2 * 128 * 128)
    }

    /// A version changes the assets of one level, and the others keep their URLs.
    @Test(arguments: [(1, 2, 1), (2, 3, 2), (5, 6, 5), (6, 7, 1), (1, 4, 0)])
    func changesByVersion(_ old: Int, _ new: Int, _ level: Int) async throws {
        let before = try await Self.manifest("/packs/3/manifest.json?version=\(old)")
        let after = try await Self.manifest("/packs/3/manifest.json?version=\(new)")
        let changed = zip(before, after).filter { $0.url != $1.url }
        #expect(changed.count == (level == 0 ? 27 : 9))
        for (old, new) in changed {
            #expect(old.digest != new.digest)
            if level > 0 { #expect(new.name.hasPrefix("level-\(level)/")) }
        }
        for (old, new) in zip(before, after) where old.url == new.url {
            #expect(old.digest == new.digest)
        }
    }

    @Test func plantsDefects() async throws {
        let clean = try await Self.manifest("/packs/4/manifest.json")
        #expect(Set(clean.map(\.digest)).count == clean.count)
        let doubled = try await Self.manifest("/packs/4/manifest.json?defects=duplicates")
        #expect(Set(doubled.map(\.digest)).count == clean.count)
        #expect(doubled.count == clean.count + 3)

        let gzip = [("Accept-Encoding", "gzip")]
        let text = "/packs/4/level-1/story.en.json"
        #expect(try await Self.answer(text, gzip).first("Content-Encoding") == "gzip")
        #expect(
            try await Self.answer(text + "?defects=text", gzip).first("Content-Encoding") == nil)

        let sound = "/packs/4/level-1/theme.m4a"
        let kept = try await Self.answer(sound)
        #expect(kept.first("ETag") != nil && kept.first("Cache-Control") != nil)
        let lost = try await Self.answer(sound + "?defects=cache")
        #expect(lost.first("ETag") == nil && lost.first("Cache-Control") == nil)
    }

    @Test func servesLargeAssets() async throws {
        let path = "/packs/1/extra/film.mp4?large=9223372036854775807"
        let response = try await Self.answer(path, [("Range", "bytes=-1")])
        #expect(response.first("Content-Range")?.hasSuffix("/9223372036854775807") == true)
        #expect(try await response.content().count == 1)
        let manifest = try await Self.answer("/packs/1/manifest.json?large=9223372036854775807")
        let text = try await manifest.content().text
        #expect(text.contains("\"sha256\": null"))
    }

    @Test(arguments: [
        "/packs/x/manifest.json", "/packs/1/none", "/packs/1/", "/packs/1/level-6/theme.m4a",
        "/packs/1/manifest.json?version=0", "/packs/1/manifest.json?version=x",
        "/packs/1/manifest.json?defects=other", "/packs/1/manifest.json?large=1x",
        "/packs/18446744073709551616/manifest.json", "/packs/1/extra/film.mp4",
    ])
    func refuses(_ path: String) async throws {
        #expect(try await Self.answer(path).status == 404)
    }

    /// The greatest number is a version like any other.
    @Test func takesAnyVersion() async throws {
        let last = try await Self.manifest("/packs/1/manifest.json?version=18446744073709551615")
        #expect(last.count == 45)
    }
}
