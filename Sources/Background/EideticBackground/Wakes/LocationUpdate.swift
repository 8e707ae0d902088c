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
    /// Asks the supervisor to wake the application when the location changes.
    ///
    /// `application(_:performWake:)` receives the location. The setting persists over launches. It requires the
    /// background mode `location`, a supervisor, and the location service GeoClue.
    ///
    /// - Parameter isEnabled: `false` to end the updates.
    public func setBackgroundLocationUpdates(isEnabled: Bool) { wakeCenter.post(.setLocationUpdates(isEnabled)) }

    /// Hands a connected socket to the supervisor, which wakes or launches the application when data arrives on it.
    ///
    /// The wake has the kind `voip` and the first bytes of the data, which stay in the socket. The application
    /// continues to use its own descriptor; a process that is launched for the data gets one from
    /// ``takeBackgroundSocket(named:)``. This requires the background mode `voip`; at most eight sockets can be handed
    /// over.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which is duplicated.
    ///   - name: The name of the socket, at most 255 bytes; an earlier socket of the same name is released.
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

    /// Returns the descriptor of a socket handed over by an earlier process; `nil` if there is none.
    ///
    /// The caller must close it.
    public func takeBackgroundSocket(named name: String) -> Int32? {
        guard let socket = wakeCenter.takeSocket(named: name) else { return nil }
        let duplicate = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3)
        return duplicate < 0 ? nil : duplicate
    }
}
