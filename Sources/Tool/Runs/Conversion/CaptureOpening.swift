package import Base
internal import CaptureStore
internal import Formats
internal import PacketFormats
package import Traffic
internal import Views

/// Opens a capture to read.
package enum CaptureOpening {
    /// Errors: those of the capture; of a file that `import` reads, that it does.
    package static func open(_ path: String) throws(Failure) -> any TrafficStore {
        do throws(Failure) {
            return try CaptureReader(path: path)
        } catch {
            guard error.code == "capture-not-a-capture", isImportable(path) else { throw error }
            throw Failure(
                error.code, party: error.party, error.detail,
                hint:
                    "make one of it: sallyport import \(shellQuoted(path)) --capture new.sallyport")
        }
    }

    /// Whether `import` reads it.
    package static func isImportable(_ path: String) -> Bool {
        do throws(Failure) {
            let start = try InputFile(path: path).read()
            return MitmproxyImporter.recognizes(start) || HARImporter.recognizes(start)
                || PacketImporter.recognizes(start)
        } catch {
            // What cannot be read is told of by its first failure.
            return false
        }
    }
}
