package import Base
internal import CaptureStore
package import Formats
internal import PacketFormats
internal import TLS

/// What another tool recorded, written into a capture.
package struct ImportRun {
    package enum Format: String, CaseIterable, Sendable {
        /// Told by the content.
        case auto
        case har
        case pcap
        case mitmproxy

        /// What a file is by its first bytes; `auto` if that cannot be told.
        fileprivate static func recognized(by start: [UInt8]) -> Format {
            // First: what begins a dump may also begin the compressed data of a HAR.
            if MitmproxyImporter.recognizes(start) { return .mitmproxy }
            // Any other compressed file may be one.
            if PacketImporter.recognizes(start) { return .pcap }
            return HARImporter.recognizes(start) ? .har : .auto
        }
    }

    /// What came of it.
    package struct Report {
        package let connections: Int64
        package let exchanges: Int64
        package let messages: Int64
        package let losses: LossReport
        /// Behind which nothing was read, although the file went on.
        package let flaw: Failure?

        package var isEmpty: Bool { connections + exchanges + messages == 0 }
    }

    /// What the file is called.
    package let name: String
    package let format: Format
    package let keyLog: String?

    package init(_ name: String, format: Format, keyLog: String?) {
        self.name = name
        self.format = format
        self.keyLog = keyLog
    }

    /// Reads a file into a capture, which is made or added to; what comes before a flaw is kept.
    ///
    /// - Parameters:
    ///   - check: ends the reading by an error.
    ///   - progress: told how many bytes were read.
    ///
    /// Errors: `format-unknown`, `file-unreadable`, those of the capture, and the file's flaw if
    /// nothing came before it.
    package func read(
        _ file: InputFile, into path: String, check: @escaping () throws -> Void,
        progress: @escaping (_ done: Int64) throws -> Void
    ) async throws -> Report {
        let start = try file.read()
        let importer = try importer(for: start)
        let isNew = !Files.exists(path)
        let store = try CaptureWriter(
            path: path, configuration: CaptureConfiguration(digest: Digests.sha256))
        let writer = ImportWriter(
            sink: store, nextConnection: store.nextConnectionID,
            nextExchange: store.nextExchangeID)
        writer.checkpoint = check
        var done: Int64 = 0
        var held: [UInt8]? = start
        var flaw: (any Error)?
        do {
            try await importer.read(
                {
                    try check()
                    let bytes = try held.take() ?? file.read()
                    done += Int64(bytes.count)
                    try progress(done)
                    return bytes
                }, into: writer)
        } catch {
            flaw = error
        }
        try store.close()
        let report = Report(
            connections: writer.connectionCount, exchanges: writer.exchangeCount,
            messages: writer.messageCount, losses: writer.losses, flaw: flaw.map(Self.kept))
        if let flaw, report.isEmpty {
            if isNew { Files.remove(path) }
            throw flaw
        }
        return report
    }

    /// A flaw behind which nothing was read.
    private static func kept(_ flaw: any Error) -> Failure {
        let hint = "what came before is in the capture"
        guard let failure = flaw as? Failure else {
            return Failure("import-failed", party: .tool, "\(flaw)", hint: hint)
        }
        return Failure(
            failure.code, party: failure.party, failure.detail, hint: failure.hint ?? hint)
    }

    /// Errors: `format-unknown`, `file-unreadable`.
    private func importer(for start: [UInt8]) throws(Failure) -> any CaptureImporter {
        let format = format == .auto ? .recognized(by: start) : format
        if keyLog != nil, format == .har || format == .mitmproxy {
            throw Failure(
                "key-log-unused", party: .tool,
                "\(name) is no file of packets, and --key-log decrypts nothing else",
                hint: "leave --key-log out")
        }
        switch format {
        case .har: return HARImporter()
        case .mitmproxy: return MitmproxyImporter()
        case .auto: throw unknownFormat(start)
        case .pcap:
            guard let keyLog else { return PacketImporter() }
            return PacketImporter(keyLog: try Files.read(keyLog, byteLimit: 256 << 20))
        }
    }

    private func unknownFormat(_ start: [UInt8]) -> Failure {
        if start.isEmpty {
            return Failure("format-unknown", party: .tool, "\(name) is empty")
        }
        if start.starts(with: "SQLite format 3".utf8) {
            return Failure(
                "format-unknown", party: .tool, "\(name) is a database, as captures are",
                hint: "name a capture to the other commands as it is")
        }
        return Failure(
            "format-unknown", party: .tool, "\(name) is in no format that is known",
            hint: "it can be HAR, pcap or pcapng, also compressed, or a dump of mitmproxy")
    }
}
