import Base
import ContentServer
import Contents
import HTTPClient
import Sockets
import TLS
import Testing

@testable import Transfer

/// One way to upload.
struct UploadWay: CustomTestStringConvertible, Sendable {
    let mode: UploadOptions.Mode
    var version = UploadDialect.draft(8)
    var method: String?

    var testDescription: String {
        let version = mode == .automatic || mode == .resumable ? " \(version.name)" : ""
        return mode.rawValue + version + (method.map { " by \($0)" } ?? "")
    }

    func apply(to options: inout TransferOptions) {
        options.upload.mode = mode
        options.upload.version = version
        options.upload.method = method
    }

    /// Whether it can be sent again, or on, whatever happens.
    var isSafe: Bool { mode != .form && !isPost }
    /// Whether nothing but a 104 that came in time makes it safe.
    var isPost: Bool { method == "POST" && (mode == .put || mode == .automatic) }

    static let versions = (3...8).map(UploadDialect.draft) + [.standard]
    static let resumable =
        versions.map { UploadWay(mode: .resumable, version: $0) }
        + versions.map { UploadWay(mode: .automatic, version: $0) } + [UploadWay(mode: .tus)]
    static let all =
        resumable + [
            UploadWay(mode: .put), UploadWay(mode: .put, method: "POST"), UploadWay(mode: .form),
            UploadWay(mode: .automatic, method: "POST"),
            UploadWay(mode: .resumable, method: "PUT"),
        ]
    /// One of each kind.
    static let few = [
        UploadWay(mode: .put), UploadWay(mode: .form), UploadWay(mode: .automatic),
        UploadWay(mode: .automatic, version: .standard, method: "POST"),
        UploadWay(mode: .resumable, version: .draft(3)), UploadWay(mode: .resumable),
        UploadWay(mode: .tus),
    ]
}

/// A way to upload, over a version of HTTP.
struct UploadLeg: CustomTestStringConvertible, Sendable {
    let way: UploadWay
    let http: ClientVersions
    var testDescription: String { "\(way.testDescription), h\(http.rawValue)" }

    static let all = UploadWay.all.flatMap { way in
        [ClientVersions.http1, .http2].map { UploadLeg(way: way, http: $0) }
    }
    static let safe = all.filter(\.way.isSafe)
}

extension Laboratory {
    /// In the scenario's terms, one rule for uploads.
    static func rule(_ fault: String, _ settings: String...) -> String {
        "[rule]\nname = \(fault.filter(\.isLetter)) \(settings.joined(separator: " "))\n"
            + "path = /uploads*\n" + settings.map { $0 + "\n" }.joined()
            + fault.split(separator: "|").map { "fault = \($0)\n" }.joined()
    }
}

extension Laboratory.Bench {
    static let source = "/files/source"

    /// What a seed makes.
    static func content(_ seed: UInt64, size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 8)
        var number: UInt64 = 0
        while bytes.count < size {
            let word = SplitMix.word(seed: seed, number)
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (shift * 8))) }
            number += 1
        }
        return Array(bytes.prefix(size))
    }

    /// Puts a file on a disk that stays there whatever happens.
    static func put(_ bytes: [UInt8], on disk: any TransferDisk) throws {
        let file = try disk.open(source, creating: true)
        try file.truncate(to: 0)
        try file.write(bytes.span, at: 0)
        try file.sync()
        try disk.syncFolder("/files")
    }

    func uploadPlan(
        _ way: UploadWay, to path: String? = nil,
        _ change: (inout TransferOptions) -> Void = { _ in }
    ) -> TransferPlan {
        let isNamed = way.mode == .put && way.method == nil || way.mode == .automatic
        let path = path ?? (isNamed ? "/uploads/file" : "/uploads")
        var plan = TransferPlan(.upload, origin + path, file: Self.source)
        way.apply(to: &plan.options)
        change(&plan.options)
        return plan
    }

    /// Uploads a file, and waits for what comes of it.
    func send(
        _ bytes: [UInt8], _ way: UploadWay, to path: String? = nil,
        _ change: (inout TransferOptions) -> Void = { _ in }
    ) async throws -> TransferTask {
        try Self.put(bytes, on: disk)
        let task = try service.enqueue(uploadPlan(way, to: path, change))
        try service.resume(task.identifier)
        return try #require(await service.wait(for: task.identifier))
    }

    /// The digests of the uploads that the server has whole, in hexadecimal.
    func uploaded() throws -> [String] {
        var found: [String] = []
        for name in try Files.names(inFolder: uploads.path, countLimit: 10_000)
        where name.hasSuffix(".upload") {
            let lines = try Files.read("\(uploads.path)/\(name)").text.split(separator: "\n")
            found += lines.filter { $0.hasPrefix("sha256 ") }.map { String($0.dropFirst(7)) }
        }
        return found
    }

    /// The same, once the server has digested what has all come to it.
    func digested() async throws -> [String] {
        var patience = 100_000
        while patience > 0, try uploaded().isEmpty {
            patience -= 1
            await Task.yield()
        }
        return try uploaded()
    }

    /// How many uploads the server has, whole or not.
    func uploadCount() throws -> Int {
        try Files.names(inFolder: uploads.path, countLimit: 10_000)
            .filter { $0.hasSuffix(".upload") }.count
    }

    var requests: [String] { content.journal.contents().records.map { $0.text() } }
}

extension TransferTask {
    /// The code that it failed with; `nil` if it did not.
    var failureCode: String? {
        if case .failed(let failure) = state { failure.code } else { nil }
    }
}
