import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Sockets between processes")
struct PacketSocketTests {
    @Test("packets keep their bounds and their order")
    func packets() throws {
        let (near, far) = try PacketSocket.makePair()
        #expect(try near.send([1, 2]))
        #expect(try near.send([3]))
        #expect(try far.receivePacket()?.bytes == [1, 2])
        #expect(try far.receivePacket()?.bytes == [3])
        #expect(try far.receivePacket() == nil)
    }

    @Test("what an end sent before it closed arrives, although it had not read all itself")
    func packetsBeforeReset() throws {
        let near = try socketAfterReset(sending: [2])
        #expect(try near.receivePacket()?.bytes == [2])
        guard case .end = try near.receive() else {
            Issue.record("the end is not reported")
            return
        }
    }

    /// Returns a socket whose other end was closed after it had sent a packet, and had not read one.
    private func socketAfterReset(sending bytes: [UInt8]) throws -> PacketSocket {
        let (near, far) = try PacketSocket.makePair()
        #expect(try near.send([1]) && far.send(bytes))
        return near
    }

    @Test("a packet of 64 KiB arrives, a longer one is refused", arguments: [-1, 0, 1])
    func length(excess: Int) throws {
        let (near, far) = try PacketSocket.makePair()
        let bytes = [UInt8](repeating: 9, count: PacketSocket.maximumPacketLength + excess)
        if excess > 0 {
            #expect(throws: SystemError(.send, errorNumber: EMSGSIZE)) { try near.send(bytes) }
        } else {
            #expect(try near.send(bytes))
            #expect(try far.receivePacket()?.bytes == bytes)
        }
    }

    @Test("a foreign packet of more than 64 KiB is an error, and the next one arrives")
    func foreignLength() throws {
        let (near, far) = try PacketSocket.makePair()
        let bytes = [UInt8](repeating: 9, count: PacketSocket.maximumPacketLength + 1)
        #expect(send(near.rawValue, bytes, bytes.count, 0) == bytes.count)
        #expect(try near.send([1]))
        #expect(throws: SystemError(.receive, errorNumber: EMSGSIZE)) { _ = try far.receive() }
        #expect(try far.receivePacket()?.bytes == [1])
    }

    @Test("descriptors arrive as duplicates, and are closed with a packet that nobody took them from")
    func descriptors() throws {
        let (near, far) = try PacketSocket.makePair()
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        #expect(try near.send([1], descriptors: [ends[1]]))
        close(ends[1])
        #expect(try far.receivePacket()?.bytes == [1])
        // The last writing end was closed with the packet, so the pipe is at its end.
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    @Test("a full queue is no failure, and the end of the other process is the end")
    func fullAndEnd() throws {
        var (near, far): (PacketSocket?, PacketSocket) = try PacketSocket.makePair()
        var sent = 0
        while try near?.send([UInt8](repeating: 0, count: 1_000)) == true { sent += 1 }
        #expect(sent > 10)
        near = nil
        for _ in 0..<sent { #expect(try far.receivePacket() != nil) }
        guard case .end = try far.receive() else {
            Issue.record("the connection has not ended")
            return
        }
    }

    @Test("a listening socket belongs to its user alone, and names its peers")
    func listening() throws {
        let directory = try TemporaryDirectory()
        let listener = try PacketSocket.listen(at: directory.path(of: "socket"))
        var status = stat()
        #expect(stat(directory.path(of: "socket"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let client = try PacketSocket.connect(to: directory.path(of: "socket"))
        let server = try #require(try listener.accept())
        let peer = try #require(server.peer)
        #expect(peer.process == getpid() && peer.user == geteuid() && peer.group == getegid())
        #expect(try client.send([5]))
        #expect(try server.receivePacket()?.bytes == [5])
        #expect(try listener.accept() == nil)
    }

    @Test("a path of 107 bytes is used, and a longer one refused")
    func pathLength() {
        let name = String(repeating: "a", count: 108)
        #expect(throws: SystemError(.bind, errorNumber: ENAMETOOLONG, path: name)) {
            _ = try PacketSocket.listen(at: name)
        }
    }
}

extension PacketSocket {
    /// Returns the next packet; `nil` if there is none.
    fileprivate func receivePacket() throws -> Packet? {
        guard case .packet(let packet) = try receive() else { return nil }
        return packet
    }
}
