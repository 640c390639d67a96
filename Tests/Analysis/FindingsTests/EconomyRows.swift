import Base
import Traffic

@testable import Findings

typealias RunRow = RunRuleTests.Row

private func answer(
    _ body: [UInt8], _ type: String, _ headers: String..., to target: String = "/",
    asking: [String] = ["Accept-Encoding: gzip;q=1.0, br"], status: Int = 200
) -> Sample {
    Sample(
        scheme: .https, host: "one.test", target: target, headers: asking, status: status,
        responseHeaders: ["Content-Type: \(type)"] + headers, responseBody: body,
        milliseconds: 5)
}

private func text(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

/// What gzip makes nothing of.
private func noise(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x5EED
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}

private func png(width: Int, height: Int, size: Int) -> [UInt8] {
    func four(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - $0 * 8) & 255) } }
    let head = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    return head + four(width) + four(height) + noise(size - 24)
}

let firstRows: [RunRow] = [
    .init(
        name: "twice", rule: .httpFirst,
        traffic: [led("https://one.test/"), led("https://ONE.test/a")],
        found: ["one.test medium certain"]),
    .init(name: "once", rule: .httpFirst, traffic: [led("https://one.test/")], found: []),
    .init(
        name: "to another host", rule: .httpFirst,
        traffic: [led("https://two.test/"), led("https://two.test/")], found: []),
    .init(
        name: "to http", rule: .httpFirst,
        traffic: [led("http://one.test/a"), led("http://one.test/a")], found: []),
    .init(
        name: "from https", rule: .httpFirst,
        traffic: [led("https://one.test/", .https), led("https://one.test/", .https)], found: []),
]

private func led(_ location: String, _ scheme: ExchangeRecord.Scheme = .http) -> Sample {
    Sample(
        scheme: scheme, host: "one.test", status: 301, responseHeaders: ["Location: \(location)"])
}

let economyRows: [RunRow] =
    compressionRows + duplicateRows + pollingRows + cachingRows
    + resumeRows + imageRows

private let compressionRows: [RunRow] = [
    .init(
        name: "200 kB of JSON", rule: .economyCompression,
        traffic: [answer(text(200_000), "application/json")], found: ["one.test low certain"]),
    .init(
        name: "more than a megabyte", rule: .economyCompression,
        traffic: (0..<8).map { _ in answer(text(200_000), "text/javascript") },
        found: ["one.test medium certain"]),
    .init(
        name: "900 bytes", rule: .economyCompression, traffic: [answer(text(900), "text/html")],
        found: []),
    .init(
        name: "nothing to be saved", rule: .economyCompression,
        traffic: [answer(noise(9000), "text/plain")], found: []),
    .init(
        name: "a picture", rule: .economyCompression, traffic: [answer(text(9000), "image/png")],
        found: []),
    .init(
        name: "compressed", rule: .economyCompression,
        traffic: [answer(noise(9000), "text/html", "Content-Encoding: br")], found: []),
    .init(
        name: "not wanted", rule: .economyCompression,
        traffic: [
            answer(text(9000), "text/html", asking: []),
            answer(text(9000), "text/html", asking: ["Accept-Encoding: gzip;q=0, identity"]),
        ], found: []),
    .init(
        name: "no-transform, and a part", rule: .economyCompression,
        traffic: [
            answer(text(9000), "text/html", "Cache-Control: no-transform"),
            answer(text(9000), "text/html", asking: ["Accept-Encoding: gzip", "Range: bytes=0-"]),
        ], found: []),
]

private let duplicateRows: [RunRow] = [
    .init(
        name: "four times", rule: .economyDuplicate,
        traffic: (0..<4).map { _ in answer(noise(5000), "image/png", to: "/a.png") },
        found: ["one.test medium certain"]),
    .init(
        name: "by two names", rule: .economyDuplicate,
        traffic: ["/a.png", "/b.png"].map { answer(noise(5000), "image/png", to: $0) },
        found: ["one.test medium certain"]),
    .init(
        name: "another content", rule: .economyDuplicate,
        traffic: [answer(noise(5000), "image/png"), answer(noise(5001), "image/png")], found: []),
    .init(
        name: "small", rule: .economyDuplicate,
        traffic: (0..<4).map { _ in answer(noise(4000), "image/png") }, found: []),
    .init(
        name: "unchanged", rule: .economyDuplicate,
        traffic: [answer(noise(5000), "image/png"), answer([], "image/png", status: 304)],
        found: []),
    .init(
        name: "parts", rule: .economyDuplicate,
        traffic: (0..<2).map { _ in
            answer(noise(5000), "image/png", asking: ["Range: bytes=0-4999"])
        }, found: []),
]

private let pollingRows: [RunRow] = [
    .init(
        name: "unchanged", rule: .economyPolling,
        traffic: (0..<6).map { _ in answer([], "text/plain", status: 304) },
        found: ["one.test low firm"]),
    .init(
        name: "the same content", rule: .economyPolling,
        traffic: (0..<6).map { answer(text(20), "text/plain", to: "/a?\($0)") },
        found: ["one.test low firm"]),
    .init(
        name: "news each time", rule: .economyPolling,
        traffic: (1..<9).map { answer(text($0), "text/plain") }, found: []),
    .init(
        name: "a few times", rule: .economyPolling,
        traffic: (0..<5).map { _ in answer([], "text/plain", status: 304) }, found: []),
    .init(
        name: "held back", rule: .economyPolling,
        traffic: (0..<9).map { _ in
            var sample = answer([], "text/plain", status: 304)
            sample.milliseconds = 30_000
            return sample
        }, found: []),
    .init(
        name: "of many paths", rule: .economyPolling,
        traffic: (0..<9).map { answer([], "text/plain", to: "/\($0)", status: 304) }, found: []),
]

private let cachingRows: [RunRow] = [
    .init(
        name: "a picture", rule: .economyCaching, traffic: [answer(noise(2000), "image/png")],
        found: ["one.test low firm"]),
    .init(
        name: "with an entity tag", rule: .economyCaching,
        traffic: [answer(noise(2000), "image/png", "ETag: \"a\"")], found: []),
    .init(
        name: "for a year", rule: .economyCaching,
        traffic: [answer(noise(2000), "text/css", "Cache-Control: immutable, max-age=31536000")],
        found: []),
    .init(
        name: "never to be kept", rule: .economyCaching,
        traffic: [answer(noise(2000), "font/woff2", "Cache-Control: no-store")], found: []),
    .init(
        name: "a page", rule: .economyCaching, traffic: [answer(noise(2000), "text/html")],
        found: []),
    .init(
        name: "a user's", rule: .economyCaching,
        traffic: [answer(noise(2000), "image/png", asking: ["Authorization: Basic YTpi"])],
        found: []),
]

private let resumeRows: [RunRow] = [
    .init(
        name: "nothing offered", rule: .economyResume,
        traffic: [answer(text(3 << 20), "application/zip")], found: ["one.test medium certain"]),
    .init(
        name: "began anew", rule: .economyResume,
        traffic: [broken(100_000), answer(text(200_000), "application/zip")],
        found: ["one.test medium certain"]),
    .init(
        name: "went on", rule: .economyResume,
        traffic: [
            broken(100_000),
            answer(text(100_000), "application/zip", asking: ["Range: bytes=100000-"], status: 206),
        ], found: []),
    .init(
        name: "ranges", rule: .economyResume,
        traffic: [answer(text(3 << 20), "application/zip", "Accept-Ranges: bytes")], found: []),
    .init(
        name: "small", rule: .economyResume, traffic: [answer(text(9000), "application/zip")],
        found: []),
]

private func broken(_ count: Int) -> Sample {
    var sample = answer(text(count), "application/zip")
    sample.error = "origin-closed"
    return sample
}

private let imageRows: [RunRow] = [
    .init(
        name: "a PNG of noise", rule: .economyImage,
        traffic: [answer(png(width: 100, height: 100, size: 60_000), "image/png")],
        found: ["one.test low firm"]),
    .init(
        name: "many pixels", rule: .economyImage,
        traffic: [answer(png(width: 400, height: 400, size: 60_000), "image/png")], found: []),
    .init(
        name: "small", rule: .economyImage,
        traffic: [answer(png(width: 10, height: 10, size: 9000), "image/png")], found: []),
    .init(
        name: "no picture", rule: .economyImage, traffic: [answer(noise(60_000), "image/png")],
        found: []),
    .init(
        name: "a size beyond belief", rule: .economyImage,
        traffic: [answer(png(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF, size: 60_000), "image/png")],
        found: []),
]
