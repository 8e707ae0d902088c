public import EideticCore
import EideticSupervision
import Glibc

/// A location that the application was woken for.
public struct LocationUpdate: Sendable, Hashable {
    /// The latitude in degrees, from -90 to 90.
    public let latitude: Double
    /// The longitude in degrees, from -180 to 180.
    public let longitude: Double
    /// The radius of uncertainty in metres.
    public let accuracy: Double

    /// Reads the payload of a wake: three numbers, divided by spaces.
    init?(payload: [UInt8]) {
        let numbers = String(decoding: payload, as: UTF8.self).split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 3 else { return nil }
        latitude = numbers[0]
        longitude = numbers[1]
        accuracy = numbers[2]
    }
}

extension Application {
    /// Asks the supervisor to wake the application when the location changes, which `application(_:performWake:)`
    /// receives; kept over launches.
    ///
    /// Requires the background mode `location`, a supervisor, and the location service GeoClue.
    ///
    /// - Parameter isEnabled: `false` to end the updates.
    public func setBackgroundLocationUpdates(isEnabled: Bool) { wakeCenter.post(.setLocationUpdates(isEnabled)) }

    /// Leaves a connected socket with the supervisor, which wakes the application when data arrives on it while the
    /// application is suspended or does not run.
    ///
    /// The wake has kind `voip` and the first bytes of the data, which stay in the socket. The application goes on to
    /// use its own descriptor; a process that is launched for the data gets one from ``takeBackgroundSocket(named:)``.
    /// Requires the background mode `voip`; eight sockets can be left.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which is duplicated.
    ///   - name: The name of the socket, at most 255 bytes; an earlier one of the same name is released.
    /// - Throws: `EideticError.Code.invalidArgument` if there is no such descriptor, or the name is too long.
    public func keepSocketInBackground(_ descriptor: Int32, named name: String) throws(EideticError) {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard duplicate >= 0, name.utf8.count <= 255 else {
            if duplicate >= 0 { close(duplicate) }
            throw EideticError(.invalidArgument, message: "\(descriptor) is no descriptor, or \(name) is too long")
        }
        wakeCenter.post(.keepSocket(name), descriptor: KeptDescriptor(adopting: duplicate))
    }

    /// Takes back a socket that the supervisor keeps.
    public func releaseBackgroundSocket(named name: String) { wakeCenter.post(.releaseSocket(name)) }

    /// Returns the descriptor of a socket that an earlier process has left, which the caller closes; `nil` if there is
    /// none.
    public func takeBackgroundSocket(named name: String) -> Int32? {
        guard let socket = wakeCenter.takeSocket(named: name) else { return nil }
        let duplicate = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3)
        return duplicate < 0 ? nil : duplicate
    }
}
