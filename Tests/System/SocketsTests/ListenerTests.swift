import Base
import Glibc
import Testing

@testable import Sockets

@Suite(.timeLimit(.minutes(10)))
struct ListenerTests {
    @Test func acceptsOnThePortThatTheSystemChose() async throws {
        try await withLoop { loop in
            let bound = try Listener.bind(loopback, sharesPort: false)
            #expect(bound.address.port > 0)
            #expect(bound.address.host == "127.0.0.1")
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            for _ in 0..<3 {
                let client = try await Channel.connect(to: bound.address, on: loop, deadline: .max)
                let (server, peer) = try #require(await listener.accept())
                #expect(peer == client.localAddress)
                client.sendNow([1])
                #expect(await server.receiveSome() == [1])
            }
        }
    }

    /// Those that are in the kernel's queue are made, as their clients know.
    @Test func takesWhatWaitsBeforeItCloses() async throws {
        try await withLoop { loop in
            let bound = try Listener.bind(loopback, sharesPort: false)
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            var clients: [Channel] = []
            for _ in 0..<3 {
                clients.append(
                    try await Channel.connect(to: bound.address, on: loop, deadline: .max))
            }
            listener.finish()
            for client in clients {
                #expect(try #require(await listener.accept()).peer == client.localAddress)
            }
            #expect(await listener.accept() == nil)
            await #expect(throws: SystemError.self) {
                _ = try await Channel.connect(to: bound.address, on: loop, deadline: .max)
            }
        }
    }

    @Test func acceptsOnIPv6Only() async throws {
        try await withLoop { loop in
            let address = try #require(SocketAddress(literal: "::1", port: 0))
            let bound = try Listener.bind(address, sharesPort: false)
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            _ = try await Channel.connect(to: bound.address, on: loop, deadline: .max)
            let (_, peer) = try #require(await listener.accept())
            #expect(peer.host == "::1")
        }
    }

    @Test func refusesAPortInUse() throws {
        let first = try Listener.bind(loopback, sharesPort: false)
        defer { close(first.descriptor) }
        for sharesPort in [false, true] {
            let failure = #expect(throws: Failure.self) {
                _ = try Listener.bind(first.address, sharesPort: sharesPort)
            }
            #expect(failure?.code == "listen-failed")
            #expect(
                failure?.detail == "cannot listen on \(first.address): address already in use")
            #expect(failure?.hint == "choose another port, or port 0 for a free one")
        }
        #expect(throws: Failure.self) { _ = try Listener.bindShared(first.address, count: 2) }
    }

    /// A port that is shared by our own loops is in use for everybody else, and for a second of us.
    @Test func refusesAPortThatOthersShare() throws {
        let shared = try Listener.bindShared(loopback, count: 2)
        defer { for descriptor in shared.descriptors { close(descriptor) } }
        let failure = #expect(throws: Failure.self) {
            _ = try Listener.bindShared(shared.address, count: 2)
        }
        #expect(failure?.code == "listen-failed")
    }

    @Test func refusesAForeignAddress() {
        let failure = #expect(throws: Failure.self) {
            // TEST-NET-1 (RFC 5737): no machine has it.
            _ = try Listener.bind(
                SocketAddress(address: [192, 0, 2, 1], port: 0), sharesPort: false)
        }
        #expect(failure?.detail.hasSuffix("cannot assign requested address") == true)
        #expect(failure?.hint == "the address must be one of this machine's")
    }

    @Test func listensAgainRightAfterAnEnd() async throws {
        try await withLoop { loop in
            let (client, server) = try await connectedPair(loop)
            let address = try #require(server.localAddress)
            // This side closes first, so that its end of the connection stays for a minute.
            server.close()
            client.close()
            // A program that another test is just starting may have a copy of what listened until it
            // runs: that is over long before the minute.
            let wakeup = LoopWakeup(loop)
            var again: (descriptor: Int32, address: SocketAddress)?
            for _ in 0..<500 where again == nil {
                do throws(Failure) {
                    let bound = try Listener.bind(address, sharesPort: false)
                    again = (bound.descriptor, bound.address)
                } catch {
                    #expect(error.code == "listen-failed", "\(error.detail)")
                    await wakeup.rest(for: 20)
                }
            }
            let listening = try #require(again)
            #expect(listening.address == address)
            close(listening.descriptor)
        }
    }

    @Test func sharesOnePortAmongLoops() async throws {
        let shared = try Listener.bindShared(loopback, count: 2)
        #expect(shared.descriptors.count == 2)
        #expect(shared.address.port > 0)
        let accepted = Notes()
        let loops = try (0..<2).map { try EventLoop(index: $0) }
        for loop in loops { startThread(named: "test loop") { loop.run() } }
        defer { for loop in loops { loop.stop() } }
        try await withLoop { clients in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (loop, descriptor) in zip(loops, shared.descriptors) {
                    group.addTask(executorPreference: loop) {
                        let listener = try Listener(
                            descriptor: descriptor, address: shared.address, loop: loop)
                        while let (channel, _) = await listener.accept() {
                            accepted.add("\(loop.index)")
                            channel.close()
                        }
                    }
                }
                // The kernel hashes ports over the listeners: 200 do not all fall to one.
                for _ in 0..<200 {
                    let client = try await Channel.connect(
                        to: shared.address, on: clients, deadline: .max)
                    #expect(await client.receiveSome() == [])
                    client.close()
                }
                for loop in loops { loop.execute { loop.closeAllChannels() } }
                try await group.waitForAll()
            }
        }
        #expect(accepted.all.count == 200)
        #expect(Set(accepted.all) == ["0", "1"])
    }

    @Test func endsWhenItIsClosed() async throws {
        try await withLoop { loop in
            let bound = try Listener.bind(loopback, sharesPort: false)
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            loop.execute { loop.closeAllChannels() }
            #expect(await listener.accept() == nil)
        }
    }

    /// A process without descriptors waits for one, and serves who waited in the kernel's queue.
    @Test func survivesALackOfDescriptors() async {
        await #expect(processExitsWith: .success) {
            try await withLoop { loop in
                let bound = try Listener.bind(loopback, sharesPort: false)
                let listener = try Listener(
                    descriptor: bound.descriptor, address: bound.address, loop: loop)
                let client = try await Channel.connect(to: bound.address, on: loop, deadline: .max)
                var spare: [Int32] = []
                limitDescriptors(64)
                while true {
                    let descriptor = dup(bound.descriptor)
                    guard descriptor >= 0 else { break }
                    spare.append(descriptor)
                }
                loop.execute { [spare] in
                    let timer = loop.makeTimer { for descriptor in spare { close(descriptor) } }
                    loop.set(timer, due: loop.now + 120)
                }
                let (server, _) = try #require(await listener.accept())
                client.sendNow([3])
                let received = await server.receiveSome()
                precondition(received == [3], "the connection is broken")
            }
        }
    }
}
