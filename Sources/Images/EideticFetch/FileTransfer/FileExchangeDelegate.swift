package import EideticCore

/// The receiver of an exchange; it is called on the thread of the loop.
package protocol FileExchangeDelegate: AnyObject {
    /// Receives a provisional response (status 1xx).
    func receive(provisional response: FileResponse)
    /// Receives the head of the response; throws to end the exchange with this error.
    func receive(_ response: FileResponse) throws(EideticError)
    /// Receives bytes of the body; throws to end the exchange with this error.
    func receive(body chunk: UnsafeRawBufferPointer) throws(EideticError)
    /// Fills the buffer with the next bytes of the request's body, and returns their number, 0 at the end; throws to
    /// end the exchange with this error.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(EideticError) -> Int
    /// Sets the position of the next byte of the request's body, if it must be sent again from there.
    func seek(to offset: Int) -> Bool
    /// Ends the exchange: called once, last; `failure` is `nil` if the response is complete.
    func finish(failure: EideticError?)
}
