/* Ends the testbed's virtual machine. */
#include <sys/reboot.h>
#include <unistd.h>

int main(void)
{
	return reboot(RB_POWER_OFF);
}
