internal import Base

/// What `/proc` tells of a process.
package enum ProcessFacts {
    /// Such as `curl`, cut at 15 bytes by the system; `nil` if it has ended.
    package static func name(of process: Int32) -> String? {
        read("/proc/\(process)/comm").map { bytes in
            String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        }
    }

    /// The process that started it, or that has taken it over; `nil` if it has ended.
    package static func parent(of process: Int32) -> Int32? {
        guard let bytes = read("/proc/\(process)/stat"),
            // Its name may hold anything.
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let words = bytes[end...].split(separator: UInt8(ascii: " "))
        return words.count > 2 ? Int32(words[2].text) : nil
    }

    private static func read(_ path: String) -> [UInt8]? {
        do throws(Failure) {
            return try Files.read(path)
        } catch {
            return nil
        }
    }
}
