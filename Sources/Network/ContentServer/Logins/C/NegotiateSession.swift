internal import Base
internal import CGSSAPI

/// The accepting side of one login with Negotiate (RFC 4559), by MIT krb5.
///
/// `@unchecked Sendable`: its owner lets one task at a time use it.
@safe
final class NegotiateSession: @unchecked Sendable {
    enum Outcome: Equatable {
        /// The client is who it says, and is shown with the answer that the server is.
        case accepted(principal: String, answer: [UInt8], isBound: Bool, delegates: Bool)
        /// Nothing is proved yet: the client has to go on.
        case unfinished(answer: [UInt8])
        case refused(String)
    }

    private let gssapi: gssapi_library
    private var context: UnsafeMutableRawPointer?

    /// - Returns: `nil` where there is no library.
    init?() {
        guard let gssapi = Self.gssapi.value else { return nil }
        self.gssapi = gssapi
    }

    deinit {
        var minor: UInt32 = 0
        if unsafe context != nil { _ = unsafe gssapi.delete_context(&minor, &context, nil) }
    }

    /// Takes a token of the client.
    ///
    /// - Parameter binding: what the client must name of the TLS connection, if it names any
    ///   (RFC 5929); `nil` without TLS.
    func accept(_ token: [UInt8], binding: [UInt8]?) -> Outcome {
        var token = token
        var data = binding ?? []
        return unsafe token.withUnsafeMutableBytes { token in
            unsafe data.withUnsafeMutableBytes { data in
                var bindings = unsafe gssapi_bindings()
                unsafe bindings.application_data = Self.buffer(data)
                return unsafe accept(Self.buffer(token), binding == nil ? nil : bindings)
            }
        }
    }

    private func accept(_ token: gssapi_buffer, _ bindings: gssapi_bindings?) -> Outcome {
        var token = unsafe token
        var minor: UInt32 = 0
        var flags: UInt32 = 0
        var answer = unsafe gssapi_buffer()
        var name: UnsafeMutableRawPointer?
        var delegated: UnsafeMutableRawPointer?
        defer {
            var ignored: UInt32 = 0
            _ = unsafe gssapi.release_buffer(&ignored, &answer)
            if unsafe name != nil { _ = unsafe gssapi.release_name(&ignored, &name) }
            if unsafe delegated != nil {
                _ = unsafe gssapi.release_credential(&ignored, &delegated)
            }
        }
        let status: UInt32
        if var bindings = unsafe bindings {
            status = unsafe gssapi.accept(
                &minor, &context, nil, &token, &bindings, &name, nil, &answer, &flags, nil,
                &delegated)
        } else {
            status = unsafe gssapi.accept(
                &minor, &context, nil, &token, nil, &name, nil, &answer, &flags, nil, &delegated)
        }
        let bytes = unsafe Self.bytes(answer)
        guard status & gssapi_errors == 0 else { return .refused(words(status, minor)) }
        // Anything but GSS_S_COMPLETE proves nothing: an empty token is no error either.
        guard status == 0 else {
            return status & gssapi_continue_needed != 0
                ? .unfinished(answer: bytes) : .refused("status \(status)")
        }
        return .accepted(
            principal: unsafe text(of: name), answer: bytes,
            isBound: flags & gssapi_is_bound != 0, delegates: flags & gssapi_delegates != 0)
    }

    private func text(of name: UnsafeMutableRawPointer?) -> String {
        var minor: UInt32 = 0
        var text = unsafe gssapi_buffer()
        guard unsafe gssapi.display_name(&minor, name, &text, nil) == 0 else { return "" }
        defer { _ = unsafe gssapi.release_buffer(&minor, &text) }
        return unsafe Self.bytes(text).text
    }

    /// What the library says of a failure: its own code, and the mechanism's.
    private func words(_ major: UInt32, _ minor: UInt32) -> String {
        [(major, Int32(1)), (minor, Int32(2))].compactMap { status, kind in
            var ignored: UInt32 = 0
            var more: UInt32 = 0
            var text = unsafe gssapi_buffer()
            guard
                unsafe gssapi.display_status(&ignored, status, kind, nil, &more, &text) == 0
            else { return nil }
            defer { _ = unsafe gssapi.release_buffer(&ignored, &text) }
            return unsafe Self.bytes(text).text
        }.joined(separator: ": ")
    }

    private static func buffer(_ bytes: UnsafeMutableRawBufferPointer) -> gssapi_buffer {
        unsafe gssapi_buffer(length: bytes.count, value: bytes.baseAddress)
    }

    private static func bytes(_ buffer: gssapi_buffer) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: buffer.value, count: buffer.length))
    }

    private static let gssapi = Library()

    /// `@unchecked Sendable`: functions that never change.
    @safe
    private final class Library: @unchecked Sendable {
        let value: gssapi_library?

        init() {
            var gssapi = gssapi_library()
            unsafe value = gssapi_load(&gssapi) == 1 ? gssapi : nil
        }
    }
}
