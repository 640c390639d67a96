import Sockets
import Testing

@testable import Processes

struct SocketTableTests {
    @Test(arguments: [
        ("127.0.0.1", "0100007F:1F90"),
        ("::1", "00000000000000000000000001000000:1F90"),
        ("2001:db8::5", "B80D0120000000000000000005000000:1F90"),
    ])
    func writesAddressesAsTheKernelDoes(literal: String, text: String) throws {
        let address = try #require(SocketAddress(literal: literal, port: 8080))
        #expect(SocketTable.text(address) == text)
    }

    @Test(
        arguments: [
            ("a line", line, 12345),
            ("cut", String(line.prefix(60)), nil),
            ("no lines", "", nil),
            ("a head only", "sl local\n", nil),
            ("another line", line.replacing("1F90", with: "1F91"), nil),
        ] as [(String, String, UInt64?)])
    func findsTheSocket(name: String, text: String, inode: UInt64?) {
        #expect(
            SocketTable.socket("0100007F:1F90", "0100007F:C350", in: "head\n" + text)?.inode
                == inode,
            "\(name)")
    }

    private static let line =
        "   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000   "
        + "     0 12345 1 0000000000000000 20 4 30 10 -1\n"
}
