import Base
import Glibc
import TLS

/// The authorities of the tests, made once a run.
enum TestAuthority {
    /// What the proxy signs with.
    static let proxy = make("Proxy")
    /// What the origins' certificates come from, and the proxy trusts.
    static let origin = make("Origin")
    /// What nobody trusts.
    static let stranger = make("Stranger")

    private static func make(_ label: String) -> CertificateAuthority {
        do {
            let folder = try TemporaryFolder()
            return try CertificateAuthority.open(folder: "\(folder.path)/ca", label: label)
        } catch {
            preconditionFailure("no test authority: \(error)")
        }
    }
}

/// A folder that is removed with everything in it when nobody needs it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/sallyport-proxytests.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw WireFailure("no temporary folder") }
        path = template.dropLast().map { UInt8(bitPattern: $0) }.text
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        guard let folder = unsafe opendir(path) else {
            Files.remove(path)
            return
        }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe Array($0.prefix { $0 != 0 }).text
            }
            if name != "." && name != ".." { names.append(name) }
        }
        unsafe closedir(folder)
        for name in names { remove("\(path)/\(name)") }
        Files.remove(path)
    }
}
