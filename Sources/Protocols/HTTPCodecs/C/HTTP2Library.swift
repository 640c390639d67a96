internal import Base
internal import CNgHTTP2

/// What all sessions share of the library.
///
/// `@unchecked Sendable`: written once, before it is shared; the library only reads it.
@safe
final class HTTP2Library: @unchecked Sendable {
    static let shared = HTTP2Library()
    let callbacks: OpaquePointer?
    let options: OpaquePointer?

    static var provider: nghttp2_data_provider {
        unsafe nghttp2_data_provider(
            source: nghttp2_data_source(),
            read_callback: { _, stream, target, room, flags, _, user in
                guard let target = unsafe target, let flags = unsafe flags else { return 0 }
                return unsafe HTTP2Library.with(user) { session in
                    unsafe session.take(target, room, of: stream, &flags.pointee)
                }
            })
    }

    static func with<Result>(
        _ user: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Result
    ) -> Result {
        unsafe Unmanaged<HTTP2Session>.fromOpaque(user.unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { body($0) }
    }

    private init() {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0,
            unsafe nghttp2_option_new(&options) == 0
        else { preconditionFailure("out of memory") }
        unsafe self.callbacks = callbacks
        unsafe self.options = options
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        // Fields that came are not refused for their number on the way out.
        unsafe nghttp2_option_set_max_send_header_block_length(options, HTTP2Fields.blockLimit)
        unsafe setReaders(callbacks)
        unsafe setLossReader(callbacks)
        unsafe setFieldReaders(callbacks)
        unsafe setFailureReader(callbacks)
    }

    private func setReaders(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_send_callback(callbacks) { _, bytes, count, _, user in
            guard let bytes = unsafe bytes else { return 0 }
            return unsafe HTTP2Library.with(user) { unsafe $0.write(bytes, count) }
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, bytes, count, user in
            unsafe HTTP2Library.with(user) {
                unsafe $0.noteContent(stream, UnsafeBufferPointer(start: bytes, count: count))
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
            _, stream, code, user in
            unsafe HTTP2Library.with(user) { $0.noteClosed(stream, code) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            unsafe HTTP2Library.with(user) { session in unsafe noteFrame(frame, session) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) {
            _, frame, reason, user in
            guard let frame = unsafe frame else { return 0 }
            unsafe HTTP2Library.with(user) { session in
                unsafe noteInvalid(frame, reason, session)
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) {
            _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let header = unsafe frame.pointee.hd
            guard Int(header.type) == nghttp2_frame_reset else { return 0 }
            unsafe HTTP2Library.with(user) { $0.beginReset(header.stream_id) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let header = unsafe frame.pointee.hd
            switch Int(header.type) {
            case nghttp2_frame_goaway:
                let code = unsafe frame.pointee.goaway.error_code
                unsafe HTTP2Library.with(user) { $0.noteOwnGoAway(code) }
            case nghttp2_frame_reset:
                let code = unsafe frame.pointee.rst_stream.error_code
                unsafe HTTP2Library.with(user) { $0.noteSentReset(header.stream_id, code) }
            case nghttp2_frame_data, nghttp2_frame_headers:
                if Int(header.type) == nghttp2_frame_data {
                    unsafe HTTP2Library.with(user) { $0.noteSentData() }
                }
                guard header.flags & nghttp2_end_stream != 0 else { return 0 }
                unsafe HTTP2Library.with(user) { $0.noteSentEnd(header.stream_id) }
            default: return 0
            }
            return 0
        }
    }

    /// A frame that cannot be sent is dropped without a word otherwise, and the peer waits for it.
    private func setLossReader(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) {
            _, frame, reason, user in
            guard let frame = unsafe frame, reason == nghttp2_too_large else { return 0 }
            let header = unsafe frame.pointee.hd
            // A stream that was never opened is closed by the library.
            let isRequest = unsafe nghttp2_is_request(frame) != 0
            unsafe HTTP2Library.with(user) { $0.noteUnsent(header.stream_id, isRequest: isRequest) }
            return 0
        }
    }

    private func setFailureReader(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_error_callback2(callbacks) {
            _, _, text, count, user in
            guard let text = unsafe text else { return 0 }
            let detail = unsafe UnsafeBufferPointer(start: text, count: min(count, 200)).map {
                UInt8(bitPattern: $0)
            }.text
            unsafe HTTP2Library.with(user) { $0.noteFailure(detail) }
            return 0
        }
    }

    private func setFieldReaders(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) {
            _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let isRequest = unsafe nghttp2_is_request(frame) != 0
            unsafe HTTP2Library.with(user) { $0.beginBlock(isRequest: isRequest) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, user in
            guard let stream = unsafe frame?.pointee.hd.stream_id else { return 0 }
            return unsafe HTTP2Library.with(user) { session in
                let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
                let value = unsafe UnsafeBufferPointer(start: value, count: valueCount)
                return unsafe session.addField(name.span, value.span, of: stream)
                    ? 0 : nghttp2_stream_failure
            }
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, user in
            unsafe HTTP2Library.with(user) { session in
                let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
                let value = unsafe UnsafeBufferPointer(start: value, count: valueCount)
                unsafe session.noteInvalid(field: name.span, value.span)
            }
            return nghttp2_stream_failure
        }
    }
}

/// Takes down why a frame is not allowed. Frames of a stream that bear no head break the connection,
/// or close the stream.
private func noteInvalid(
    _ frame: UnsafePointer<nghttp2_frame>, _ reason: Int32, _ session: HTTP2Session
) {
    let header = unsafe frame.pointee.hd
    session.noteProvoked(header.stream_id)
    if Int(header.type) == nghttp2_frame_headers,
        reason == nghttp2_bad_header || reason == nghttp2_bad_message
    {
        let isRequest = unsafe nghttp2_is_request(frame) != 0
        session.noteMalformed(header.stream_id, reason, isRequest: isRequest)
    } else {
        session.noteViolation(
            on: header.stream_id, unsafe String(cString: nghttp2_strerror(reason)))
    }
}

/// Takes down what a whole frame means.
private func noteFrame(_ frame: UnsafePointer<nghttp2_frame>, _ session: HTTP2Session) {
    let header = unsafe frame.pointee.hd
    let stream = header.stream_id
    switch Int(header.type) {
    case nghttp2_frame_headers:
        session.endBlock(stream)
        if header.flags & nghttp2_end_stream != 0 { session.noteEnd(stream) }
    case nghttp2_frame_data:
        if header.flags & nghttp2_end_stream != 0 { session.noteEnd(stream) }
    case nghttp2_frame_settings:
        if header.flags & nghttp2_ack == 0 {
            session.noteSettings()
        } else {
            session.noteAcknowledged()
        }
    case nghttp2_frame_goaway:
        unsafe session.noteGoAway(
            frame.pointee.goaway.last_stream_id, frame.pointee.goaway.error_code)
    default: return
    }
}
