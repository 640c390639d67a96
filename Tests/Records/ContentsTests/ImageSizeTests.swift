import Base
import Testing

@testable import Contents

struct ImageSizeTests {
    @Test(
        arguments: [
            ("PNG", "89504e470d0a1a0a0000000d49484452000001000000008008060000", 256, 128),
            ("GIF", "474946383961050003", nil, nil), ("GIF, whole", "47494638396105000300", 5, 3),
            (
                "JPEG", "ffd8ffe000104a46494600010100000100010000ffc0001108009001e003012200", 480,
                144
            ),
            (
                "WebP with more",
                "524946460000000057454250565038580a00000000000000ff0300570200", 1024, 600
            ),
            (
                "WebP with loss",
                "5249464600000000574542505650382000000000000000" + "9d012a40010f00", 320, 15
            ),
            (
                "WebP without loss",
                "5249464600000000574542505650384c000000002f" + "3fc103000000000000", 320, 16
            ),
            ("nothing", "", nil, nil), ("a text", "68656c6c6f", nil, nil),
            ("too large", "89504e470d0a1a0a0000000d49484452ffffffffffffffff", nil, nil),
        ] as [(String, String, Int?, Int?)])
    func reads(_ name: String, _ text: String, _ width: Int?, _ height: Int?) {
        let bytes = bytes(fromHex: text) ?? []
        let size = ImageSize(bytes)
        #expect(size?.width == width && size?.height == height, "\(String(describing: size))")
        for count in 0..<bytes.count { _ = ImageSize(Array(bytes.prefix(count))) }
    }
}
