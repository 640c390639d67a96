import Refresh
import Sockets
import Testing
import Transfer

@testable import Runs

struct TransferHandoverTests {
    /// How long a file may get, by what its feed says.
    @Test(
        arguments: [
            (nil, 1 << 30), (0, 1 << 30), (-5, 1 << 30), (1000, 2000 + (1 << 20)),
            (.max, (16 << 30) + (1 << 20)),
        ] as [(Int64?, Int64)])
    func boundsFiles(_ size: Int64?, _ limit: Int64) {
        let asset = HandedAsset(url: "http://h/a", name: "a", size: size, isDiscretionary: true)
        #expect(TransferHandover.byteLimit(of: asset) == limit)
    }

    /// Feeds name files, and no user does.
    @Test func handsOverWhatAStrangerNamed() throws {
        let handover = TransferHandover(
            FetchConfiguration(), on: try EventLoop(index: 0), starting: nil
        ) { _ in }
        let asset = HandedAsset(url: "http://h/a", name: "a", size: 5, isDiscretionary: true)
        let options = handover.plan(of: asset).options
        #expect(options.isFromStranger && options.isFromWake)
    }
}
