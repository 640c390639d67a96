internal import Base
package import Origins

/// Credentials in files of their own: what a task refers to is the path of a file whose first line is
/// `user:password`. It is read when an origin asks for it, and kept nowhere.
package final class CredentialFiles: CredentialSource {
    package init() {}

    package func authorization(
        for reference: String, at location: OriginLocation, schemes: [String], refused: String?
    ) async -> String? {
        guard schemes.contains("basic"), let line = firstLine(of: reference) else {
            return nil
        }
        let value = "Basic " + Base64.encode(line)
        return value == refused ? nil : value
    }

    /// `nil` for a file that others may read, or that is another user's.
    private func firstLine(of path: String) -> [UInt8]? {
        guard Files.isPrivate(path) else { return nil }
        do throws(Failure) {
            let bytes = try Files.readOwn(path, byteLimit: Self.byteLimit) ?? []
            let line = Array(bytes.prefix { $0 != 0x0A && $0 != 0x0D })
            return line.contains(UInt8(ascii: ":")) ? line : nil
        } catch {
            // The transfer waits for a login then, which says what is missing.
            return nil
        }
    }

    private static let byteLimit = 4096
}
