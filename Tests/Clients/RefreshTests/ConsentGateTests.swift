import Testing

@testable import Refresh

struct ConsentGateTests {
    private static let rows: [(ConsentGate.State, Bool, ConsentGate.Step, ConsentGate.State)] = [
        (.unknown, true, .ask, .waiting), (.unknown, false, .wait, .unknown),
        (.waiting, true, .wait, .waiting), (.waiting, false, .wait, .waiting),
        (.granted, true, .proceed, .granted), (.granted, false, .proceed, .granted),
        (.denied, true, .refuse, .denied), (.denied, false, .refuse, .denied),
    ]

    @Test(arguments: rows)
    func judges(
        _ state: ConsentGate.State, _ inForeground: Bool, _ step: ConsentGate.Step,
        _ next: ConsentGate.State
    ) {
        var gate = ConsentGate(state)
        #expect(gate.request(inForeground: inForeground) == step)
        #expect(gate.state == next)
    }

    /// The user may change their mind at any time.
    @Test(arguments: ConsentGate.State.allCases)
    func obeys(_ state: ConsentGate.State) {
        for isGranted in [true, false] {
            var gate = ConsentGate(state)
            gate.answer(isGranted: isGranted)
            #expect(gate.state == (isGranted ? .granted : .denied))
        }
    }
}
