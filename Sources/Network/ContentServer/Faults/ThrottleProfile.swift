/// A kind of network by its name: what an application on it sees of latency and rate.
///
/// Packets are never lost here: that is below HTTP. `netem` does it.
struct ThrottleProfile {
    let name: String
    /// In bits a second towards the client.
    let rate: UInt64
    /// Until the first byte, in milliseconds.
    let delay: UInt64

    private init(_ name: String, kilobits: UInt64, delay: UInt64) {
        self.name = name
        rate = kilobits * 1000
        self.delay = delay
    }

    var faults: [Fault] {
        [.delay(milliseconds: delay), .rate(bytesPerSecond: rate / 8)]
    }

    /// Both ways of the published delays together: a request has to get there first.
    static let all: [ThrottleProfile] = [
        ThrottleProfile("modem", kilobits: 56, delay: 200),
        ThrottleProfile("gprs", kilobits: 80, delay: 1300),
        ThrottleProfile("edge", kilobits: 240, delay: 800),
        ThrottleProfile("3g", kilobits: 780, delay: 200),
        ThrottleProfile("dsl", kilobits: 2_000, delay: 10),
        ThrottleProfile("hspa", kilobits: 20_000, delay: 300),
        ThrottleProfile("lte", kilobits: 50_000, delay: 115),
        ThrottleProfile("slow-4g", kilobits: 1_600, delay: 150),
        ThrottleProfile("4g", kilobits: 100_000, delay: 90),
        ThrottleProfile("wifi", kilobits: 40_000, delay: 3),
        ThrottleProfile("very-bad", kilobits: 1_000, delay: 1000),
    ]
}
