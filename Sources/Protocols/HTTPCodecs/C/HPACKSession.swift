internal import Base
internal import CNgHTTP2

/// Takes the header blocks of one direction of a connection apart (RFC 7541), for one who is none of
/// its ends.
///
/// Owns the table that the blocks refer to. Not `Sendable`: one task uses it.
@safe
final class HPACKSession {
    private let pointer: OpaquePointer

    struct Block {
        var fields = HTTP2HeaderBlock()
        /// Of all fields, as RFC 9113 §6.5.2 counts them, also of those that were not kept; in bytes.
        var size = 0
        /// Why no sound peer takes the block; `nil` if one does.
        var flaw: String?
    }

    /// In bytes: what a sender's table may grow to.
    ///
    /// A receiver allows less, by SETTINGS_HEADER_TABLE_SIZE. A sender has to say in a block how
    /// large its table is from then on (RFC 7541 §4.2), so that one who watches need not know the
    /// settings, nor when they were acknowledged.
    private static let tableLimit = 1 << 20

    init() {
        var made: OpaquePointer?
        guard unsafe nghttp2_hd_inflate_new(&made) == 0, let made = unsafe made,
            unsafe nghttp2_hd_inflate_change_table_size(made, Self.tableLimit) == 0
        else { preconditionFailure("out of memory") }
        unsafe pointer = made
    }

    deinit {
        unsafe nghttp2_hd_inflate_del(pointer)
    }

    /// - Parameters:
    ///   - bytes: a whole block.
    ///   - headLimit: of the fields that are kept, in bytes.
    /// - Returns: `nil` if it cannot be decoded; no block that follows can be, then.
    func decode(_ bytes: Span<UInt8>, headLimit: Int) -> Block? {
        var block = Block()
        var place = 0
        while true {
            var field = unsafe nghttp2_nv()
            var flags: Int32 = 0
            let count = unsafe bytes.extracting(place...).withUnsafeBufferPointer {
                unsafe nghttp2_hd_inflate_hd2(
                    pointer, &field, &flags, $0.baseAddress, $0.count, 1)
            }
            guard count >= 0 else { return nil }
            place += Int(count)
            if flags & nghttp2_field_decoded != 0 { unsafe add(field, to: &block, headLimit) }
            guard flags & nghttp2_block_ended == 0 else { break }
            guard flags & nghttp2_field_decoded != 0 || count > 0 else { return nil }
        }
        unsafe nghttp2_hd_inflate_end_headers(pointer)
        return block
    }

    private func add(_ field: nghttp2_nv, to block: inout Block, _ headLimit: Int) {
        let name = unsafe UnsafeBufferPointer(start: field.name, count: field.namelen)
        let value = unsafe UnsafeBufferPointer(start: field.value, count: field.valuelen)
        block.size += name.count + value.count + 32
        guard block.size <= headLimit else {
            if block.flaw == nil { block.flaw = "the fields are larger than \(headLimit) bytes" }
            return
        }
        // What ends a line would make other fields of a head that is spelled as HTTP/1.
        guard unsafe HTTP2FieldFlaw.isSpelled(name.span, value.span) else {
            if block.flaw == nil { block.flaw = unsafe HTTP2FieldFlaw.text(name.span, value.span) }
            return
        }
        unsafe block.fields.add(name.span, value.span)
    }
}
