#include <hiredis/hiredis.h>
// eventfd, which Swift's Glibc does not import.
#include <sys/eventfd.h>
