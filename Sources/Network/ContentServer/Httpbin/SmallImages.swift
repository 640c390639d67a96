internal import Base

/// Pictures of a few bytes, made without an image library.
enum SmallImages {
    /// 8 by 8 pixels of grey: one block whose every coefficient is 0 (ITU T.81).
    static let jpeg: [UInt8] = {
        let quantization = [0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]
        // One code of one bit each: no difference, and the end of the block.
        let tables = [UInt8]([0, 0x10]).flatMap { kind in
            [0xFF, 0xC4, 0, 20, kind, 1] + [UInt8](repeating: 0, count: 16)
        }
        let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x3F]
        return [0xFF, 0xD8] + quantization + frame + tables + scan + [0xFF, 0xD9]
    }()

    /// One pixel without loss (RFC 9649 §3).
    static let webP: [UInt8] =
        [UInt8]("RIFF".utf8) + [26, 0, 0, 0] + [UInt8]("WEBPVP8L".utf8) + [13, 0, 0, 0]
        + [
            0x2F, 0, 0, 0, 0x10, 0x07, 0x10, 0x11, 0x11, 0x88, 0x88, 0xFE, 0x07, 0,
        ]

    static let svg = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48">\
        <circle cx="24" cy="24" r="20" fill="#336699"/></svg>

        """
}
